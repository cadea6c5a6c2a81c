/** Parsers that only registry settings use. */
import { plainAddress } from '@shoal/core/addresses'
import { type Parse, port } from '@shoal/core/settings'
import { parseDuration } from '@shoal/core/units'
import { parseNetwork, type TrustedProxies } from './trusted-proxies.ts'

/** Returns the URL without a trailing slash, or undefined if the text is empty. */
export const parseBaseUrl: Parse<string | undefined> = (text, refuse) => {
  if (text === '') return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  if (isPlain && url.pathname === '/') return url.origin
  return refuse(`must be a URL without a path, such as https://models.example.org, not "${text}"`)
}

export const parseDatabaseUrl: Parse<string> = (text, refuse) =>
  /^postgres(ql)?:\/\//.test(text)
    ? text
    : refuse('must begin with postgres:// or postgresql:// (to use SQLite, unset DATABASE_URL)')

export const parseRedisUrl: Parse<string> = (text, refuse) =>
  /^rediss?:\/\//.test(text) ? text : refuse('must begin with redis:// or rediss://')

export const parseMetricsToken: Parse<string> = (text, refuse) =>
  /^[!-~]{16,}$/.test(text)
    ? text
    : refuse(
        'must be at least 16 visible ASCII characters; generate one with: openssl rand -hex 32',
      )

/** Parses which proxies to trust. Returns false for `off`. */
export const parseTrustProxy: Parse<TrustedProxies> = (text, refuse) => {
  if (text === 'off') return false
  if (text === 'on') return 1
  if (/^[1-9]\d?$/.test(text)) return Number(text)
  const networks = text.split(',').map((network) => network.trim())
  if (networks.every(parseNetwork)) return networks
  return refuse(
    `must be "on", "off", a number of proxies from 1 to 99, or networks such as 10.0.0.0/8,fd00::/8, not "${text}"`,
  )
}

export const parsePeerAddress: Parse<string> = (text, refuse) =>
  plainAddress(text.trim()) ?? refuse(`must be an IP address, not "${text}"`)

/** Parses a port number. Returns undefined for `off`. */
export const parsePeerPort: Parse<number | undefined> = (text, refuse) => {
  if (text === 'off') return undefined
  return port(text, () => refuse(`must be a whole number from 0 to 65535, or "off", not "${text}"`))
}

/** The number of days that represents “forever”. It is small enough for the database's date arithmetic. */
const centuryDays = 36_500

const hourMs = 3_600_000

/** Parses a duration. Returns a number of days: 0, or at least 1/24 (one hour). */
export const parseTrashDays: Parse<number> = (text, refuse) => {
  const ms = parseDuration(text, 'd')
  if (ms === undefined)
    return refuse(`must be a number of days such as 7, or a duration such as 12h, not "${text}"`)
  if (ms > 0 && ms < hourMs) {
    return refuse(
      `must be 0 (delete files immediately) or at least an hour (1h), not "${text}"; m means minutes`,
    )
  }
  return Number.isFinite(ms) ? Math.round(ms / 1_000) / 86_400 : centuryDays
}
