/**
 * Parses a `Range` header with a single range (RFC 9110 §14.2) for content of `size` bytes. Returns `whole` if there is
 * no header, or if the header can be ignored because it is malformed or contains several ranges. Returns
 * `unsatisfiable` if the response must be 416.
 */
export function byteRange(
  header: string | undefined,
  size: number,
): { start: number; size: number } | 'whole' | 'unsatisfiable' {
  const found = /^bytes=(\d*)-(\d*)$/i.exec(header?.replace(/\s/g, '') ?? '')
  if (!found || (found[1] === '' && found[2] === '')) return 'whole'
  const [, first = '', last = ''] = found
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, size: length }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return 'whole'
  return start >= size ? 'unsatisfiable' : { start, size: end - start + 1 }
}
