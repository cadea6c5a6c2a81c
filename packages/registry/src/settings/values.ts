/** The values that only settings of a registry take. */
import { type Parse, port } from '@shoal/core/settings'
import { parseDuration } from '@shoal/core/units'

/** Without a trailing slash. Undefined where a flag is empty. */
export const parseBaseUrl: Parse<string | undefined> = (text, refuse) => {
  if (text === '') return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  if (isPlain && url.pathname === '/') return url.origin
  return refuse(`is an address such as https://models.example.org, not "${text}"`)
}

export const parseDatabaseUrl: Parse<string> = (text, refuse) =>
  /^postgres(ql)?:\/\//.test(text)
    ? text
    : refuse('begins with postgres:// (leave it out for SQLite)')

export const parseMetricsToken: Parse<string> = (text, refuse) =>
  /^[!-~]{16,}$/.test(text)
    ? text
    : refuse(
        'has at least 16 characters, all of them visible ASCII: openssl rand -hex 32 makes one',
      )

/** Undefined is `off`. */
export const parsePeerPort: Parse<number | undefined> = (text, refuse) => {
  if (text === 'off') return undefined
  return port(text, () => refuse(`is a number from 0 to 65535, or off, not "${text}"`))
}

/** Stands for no end, in days: the database can still calculate with it. */
const centuryDays = 36_500

const hourMs = 3_600_000

/** Days, 0 or at least an hour's part of one. */
export const parseTrashDays: Parse<number> = (text, refuse) => {
  const ms = parseDuration(text, 'd')
  if (ms === undefined) return refuse(`is a number of days such as 7, or a time, not "${text}"`)
  if (ms > 0 && ms < hourMs) {
    return refuse(
      `is 0, which deletes files at once, or at least an hour (1h), not "${text}"; m are minutes`,
    )
  }
  return Number.isFinite(ms) ? Math.round(ms / 1_000) / 86_400 : centuryDays
}
