type Wanted = { start: number; size: number; fileSizeBytes: number }

/**
 * What is wrong with a successful response, to continue a sentence; `html` for a web page. `wanted` is a range of the
 * file, or the size of the only chunk that the URL serves. The hash would detect all of this too, but only after 16 MiB
 * of an error page.
 */
export function answerProblem(
  status: number,
  header: (name: string) => string | undefined,
  wanted: Wanted | number,
): string | undefined {
  const encoding = header('content-encoding')
  if (encoding !== undefined && encoding !== 'identity') return `sent the bytes as ${encoding}`
  if (header('content-type')?.startsWith('text/html')) return 'html'
  if (status !== 200 && status !== 206) return `answered ${status}`

  const size = typeof wanted === 'number' ? wanted : wanted.size
  const length = header('content-length')
  if (typeof wanted !== 'number') {
    const isWholeFile = wanted.start === 0 && wanted.size === wanted.fileSizeBytes
    if (status === 200 && !isWholeFile) return 'ignored the requested range'
    const range = header('content-range') ?? 'none'
    if (status === 206 && !isRange(range, wanted)) return `sent another range: ${range}`
  }
  if (length !== undefined && Number(length) !== size) return `sent ${length} bytes, not ${size}`
  return undefined
}

function isRange(range: string, { start, size, fileSizeBytes }: Wanted) {
  const bytes = `bytes ${start}-${start + size - 1}`
  return range === `${bytes}/${fileSizeBytes}` || range === `${bytes}/*`
}
