/**
 * Parses a `Retry-After` header, which contains a number of seconds or a date (RFC 9110, section 10.2.3). Returns the
 * wait in seconds, which is 0 for a date in the past; undefined if the header is missing or invalid.
 */
export function parseRetryAfter(text: string | null | undefined): number | undefined {
  const value = text ?? ''
  // `Date.parse` alone would also accept `-1`. An HTTP date begins with the name of the day.
  const seconds = /^[a-z]/i.test(value)
    ? Math.max(0, (Date.parse(value) - Date.now()) / 1000)
    : Number.parseFloat(value)
  return seconds >= 0 ? seconds : undefined
}
