/**
 * Parses a `Retry-After` header, which contains a number of seconds or a date (RFC 9110, section 10.2.3). Returns the
 * wait in seconds, which is 0 for a date in the past; undefined if the header is missing or invalid.
 */
export function parseRetryAfter(text: string | null | undefined): number | undefined {
  const value = text?.trim() ?? ''
  if (/^\d+$/.test(value)) return Number(value)
  // `Date.parse` alone would also accept `1.5` or `-1`. An HTTP date begins with the name of the day.
  const seconds = /^[a-z]{3}/i.test(value) ? (Date.parse(value) - Date.now()) / 1000 : Number.NaN
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
