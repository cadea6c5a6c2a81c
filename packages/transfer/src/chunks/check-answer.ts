import { plural } from '@shoal/core/units'

type Wanted = { start: number; size: number; fileSizeBytes: number }

/**
 * Checks whether a response contains the wanted bytes. Returns undefined if it does, `html` if the response is a web
 * page, and otherwise a phrase that describes the problem and follows the hostname in messages. `wanted` is a range of
 * the file or, for the URL of a single chunk, the size of the chunk in bytes. A wrong response would also be detected
 * by the chunk's hash, but only after the whole chunk had been downloaded.
 */
export function answerProblem(
  status: number,
  header: (name: string) => string | undefined,
  wanted: Wanted | number,
): string | undefined {
  const encoding = header('content-encoding')
  if (encoding !== undefined && encoding !== 'identity')
    return `sent the bytes with content encoding ${encoding}`
  if (header('content-type')?.startsWith('text/html')) return 'html'
  if (status !== 200 && status !== 206) return `returned status ${status}`

  const size = typeof wanted === 'number' ? wanted : wanted.size
  const length = header('content-length')
  if (typeof wanted !== 'number') {
    const isWholeFile = wanted.start === 0 && wanted.size === wanted.fileSizeBytes
    if (status === 200 && !isWholeFile) return 'ignored the requested range'
    const range = header('content-range') ?? 'none'
    if (status === 206 && !isRange(range, wanted)) return `sent a different range: ${range}`
  }
  if (length !== undefined && Number(length) !== size)
    return `sent ${plural(Number(length), 'byte')}, not ${size}`
  return undefined
}

function isRange(range: string, { start, size, fileSizeBytes }: Wanted) {
  const bytes = `bytes ${start}-${start + size - 1}`
  return range === `${bytes}/${fileSizeBytes}` || range === `${bytes}/*`
}
