import { resolve } from 'node:path'
import { parseDuration, parseSize } from '@shoal/core/units'
import { ConfigError } from './errors.ts'

export type RateLimits = Record<RateLimitClass, { max: number; windowSeconds: number }>
export type RateLimitClass = 'auth' | 'write' | 'read' | 'chunk' | 'tracker'

export type RegistryConfig = {
  host: string
  /** 0 takes a port that the system gives. */
  port: number
  dataDirectory: string
  /** Where clients find the registry; undefined means `http://localhost:<port>`. Without a trailing slash. */
  baseUrl: string | undefined
  databaseUrl: string | undefined
  /** The longest that one statement of a request may take (PostgreSQL). */
  statementTimeoutMs: number
  allowedHosts: string[]
  isRegistrationOpen: boolean
  isAnonymousReadAllowed: boolean
  /** Believe `X-Forwarded-For` of the proxy in front. */
  trustProxy: boolean
  /** With this Bearer token `/metrics` may be read from anywhere; undefined: no token does. */
  metricsToken: string | undefined
  /** Undefined: no limits. */
  rateLimits: RateLimits | undefined
  /** Bytes that an account may declare in files; undefined: no limit. */
  quotaBytes: number | undefined
  /** Bytes of the disk that uploads leave free; undefined: the smaller of 1 GB and 2 % of the file system. */
  reserveBytes: number | undefined
  /** Days, at least an hour's part of one, that the bytes of deleted files are kept for; 0 removes them at once. */
  trashDays: number
  /** Room that is kept for the database's own writes (SQLite); undefined: 1 % of the disk, from 1 to 32 MiB. No variable: for tests. */
  ballastBytes: number | undefined
  /** Where BitTorrent clients get the metadata of public files; 0 takes a port that the system gives, undefined is nowhere. */
  peerPort: number | undefined
  /** How often torrent clients tell the tracker that they are there. Who has not for twice as long is gone. */
  announceIntervalSeconds: number
  /** HTTP connections at a time of one address (IPv6: of one network of 64 bits); this machine has no limit. */
  maxConnectionsPerAddress: number
  timeouts: Timeouts
  log: 'stdout' | 'silent' | { file: string }
  logLevel: string
}

/** When a connection whose other side has stopped is ended, in milliseconds. Slow ones are not. */
export type Timeouts = {
  /** Nothing of an answer is taken. */
  readerMs: number
  /** Nothing of a body comes. */
  senderMs: number
  /** The headers of a request are not complete. */
  headersMs: number
  /** No request comes. */
  idleMs: number
}

/** Flags of the command line, as typed. A flag wins over the environment. */
export type RegistryFlags = { host?: string; port?: string; data?: string; baseUrl?: string }

const defaultRateLimits = 'auth=30/min,write=600/min,read=3000/min,chunk=60000/min,tracker=6000/min'

/** Reads the environment and the flags once. Throws a `ConfigError` that names the variable which is wrong. */
export function readRegistryConfig(
  env: Record<string, string | undefined>,
  flags: RegistryFlags = {},
): RegistryConfig {
  const dataDirectory = resolve(flags.data ?? env.SHOAL_DATA ?? './data')
  return {
    host: flags.host ?? env.SHOAL_HOST ?? '127.0.0.1',
    port: port(flags.port ?? env.SHOAL_PORT ?? '8000'),
    dataDirectory,
    baseUrl: baseUrl(flags.baseUrl ?? env.SHOAL_BASE_URL),
    databaseUrl: databaseUrl(env.DATABASE_URL),
    statementTimeoutMs: 30_000,
    allowedHosts: list(env.SHOAL_ALLOWED_HOSTS).map((host) => host.toLowerCase()),
    isRegistrationOpen:
      choice('SHOAL_REGISTRATION', env.SHOAL_REGISTRATION, ['open', 'closed']) === 'open',
    isAnonymousReadAllowed:
      choice('SHOAL_ANONYMOUS_READ', env.SHOAL_ANONYMOUS_READ, ['on', 'off']) === 'on',
    trustProxy: choice('SHOAL_TRUST_PROXY', env.SHOAL_TRUST_PROXY, ['off', 'on']) === 'on',
    metricsToken: metricsToken(env.SHOAL_METRICS_TOKEN),
    rateLimits: rateLimits(env.SHOAL_RATE_LIMITS ?? defaultRateLimits),
    quotaBytes: bytes('SHOAL_QUOTA', env.SHOAL_QUOTA),
    reserveBytes: bytes('SHOAL_RESERVE', env.SHOAL_RESERVE),
    trashDays: days('SHOAL_TRASH_DAYS', env.SHOAL_TRASH_DAYS ?? '7'),
    ballastBytes: undefined,
    peerPort: env.SHOAL_PEER_PORT === 'off' ? undefined : peerPort(env.SHOAL_PEER_PORT),
    announceIntervalSeconds: 900,
    maxConnectionsPerAddress: positiveInteger(
      'SHOAL_MAX_CONNECTIONS_PER_ADDRESS',
      env.SHOAL_MAX_CONNECTIONS_PER_ADDRESS ?? '512',
    ),
    timeouts: { readerMs: 60_000, senderMs: 30_000, headersMs: 60_000, idleMs: 72_000 },
    log: 'stdout',
    logLevel: choice('SHOAL_LOG_LEVEL', env.SHOAL_LOG_LEVEL, [
      'info',
      'trace',
      'debug',
      'warn',
      'error',
      'silent',
    ]),
  }
}

function port(text: string): number {
  if (isPort(text)) return Number(text)
  throw new ConfigError(`SHOAL_PORT (or --port) is a number from 0 to 65535, not "${text}"`)
}

function peerPort(text = '0'): number {
  if (text === '') return 0
  if (isPort(text)) return Number(text)
  throw new ConfigError(`SHOAL_PEER_PORT is a number from 0 to 65535, or off, not "${text}"`)
}

const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535

function positiveInteger(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text)
  throw new ConfigError(`${name} is a number from 1 on, not "${text}"`)
}

function baseUrl(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  if (!isPlain || url.pathname !== '/') {
    throw new ConfigError(
      `SHOAL_BASE_URL (or --base-url) is an address such as https://models.example.org, not "${text}"`,
    )
  }
  return url.origin
}

function databaseUrl(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  if (/^postgres(ql)?:\/\//.test(text)) return text
  throw new ConfigError('DATABASE_URL begins with postgres:// (leave it out for SQLite)')
}

function metricsToken(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  if (/^[!-~]{16,}$/.test(text)) return text
  throw new ConfigError(
    'SHOAL_METRICS_TOKEN has at least 16 characters, all of them visible ASCII: openssl rand -hex 32 makes one',
  )
}

function choice<T extends string>(name: string, text: string | undefined, values: [T, ...T[]]): T {
  if (text === undefined || text === '') return values[0]
  const found = values.find((value) => value === text)
  if (found) return found
  throw new ConfigError(`${name} is one of ${values.join(', ')}, not "${text}"`)
}

function list(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function rateLimits(text: string): RateLimits | undefined {
  if (text === 'off') return undefined
  const limits = parseRateLimits(defaultRateLimits)
  return { ...limits, ...parseRateLimits(text) } as RateLimits
}

function parseRateLimits(text: string): Partial<RateLimits> {
  const entries = list(text).map((item) => {
    const [, name = '', max, window = ''] =
      /^(auth|write|read|chunk|tracker)=(\d+)\/(.+)$/.exec(item) ?? []
    const windowMs = parseDuration(window) ?? parseDuration(`1${window}`) ?? 0 // `min` is `1min`
    if (!(Number(max) >= 1 && windowMs >= 1_000 && Number.isFinite(windowMs))) {
      throw new ConfigError(
        `SHOAL_RATE_LIMITS looks like ${defaultRateLimits}, or is off; "${item}" does not`,
      )
    }
    return [name, { max: Number(max), windowSeconds: windowMs / 1_000 }]
  })
  return Object.fromEntries(entries)
}

/** Stands for no end, in days: the database can still calculate with it. */
const century = 36_500

const hourMs = 3_600_000

function days(name: string, text: string): number {
  const ms = parseDuration(text, 'd')
  if (ms === undefined) {
    throw new ConfigError(`${name} is a number of days such as 7, or a time, not "${text}"`)
  }
  if (ms > 0 && ms < hourMs) {
    throw new ConfigError(
      `${name} is 0, which deletes files at once, or at least an hour (1h), not "${text}"; m are minutes`,
    )
  }
  return Number.isFinite(ms) ? Math.round(ms / 1_000) / 86_400 : century
}

function bytes(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const size = parseSize(text)
  if (size === undefined) throw new ConfigError(`${name} is a size such as 500GB, not "${text}"`)
  return size
}
