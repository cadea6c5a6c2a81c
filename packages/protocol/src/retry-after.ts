/**
 * Parses a `Retry-After` header, which contains a number of seconds or a date (RFC 9110, section 10.2.3). Returns the
 * wait in seconds, which is 0 for a date in the past; undefined if the header is missing or invalid.
 */
export function parseRetryAfter(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined) return undefined
  if (/^\s*\d+\s*$/.test(text)) return Number(text)
  // `Date.parse` alone would also accept `1.5` or `-1`. An HTTP date begins with the name of the day.
  const seconds = (Date.parse(/^\s*[a-z]{3}/i.test(text) ? text : '') - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
