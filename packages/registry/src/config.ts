import { readSettings, type SettingsOf } from '@shoal/core/settings'
import { ConfigError } from './errors.ts'
import { registrySettings } from './settings/settings.ts'

export type { RateLimitClass, RateLimits } from './settings/rate-limits.ts'

/** The user's settings, and some that only tests change. */
export type RegistryConfig = SettingsOf<typeof registrySettings> & {
  /** Maximum duration of one statement of a request (PostgreSQL). */
  statementTimeoutMs: number
  /** Space reserved for the database's own writes (SQLite); undefined: 1% of the disk, from 1 to 32 MiB. */
  ballastBytes: number | undefined
  /** How often torrent clients announce. A client that has not announced for twice as long is removed. */
  announceIntervalSeconds: number
  timeouts: ConnectionTimeouts
  log: 'stdout' | 'silent' | { file: string }
}

/** After this long a connection whose other side has stopped is closed, in milliseconds. Slow connections are not. */
export type ConnectionTimeouts = {
  /** How long the client may read nothing of a response. */
  readerMs: number
  /** How long a request body may pause. */
  senderMs: number
  /** How long the headers of a request may take to arrive. */
  headersMs: number
  /** No request arrives. */
  idleMs: number
}

/** Flags of the command line, as typed. A flag overrides the environment. */
export type RegistryFlags = { host?: string; port?: string; data?: string; baseUrl?: string }

/** Reads the environment and the flags once. Throws a `ConfigError` that names the invalid variable. */
export function readRegistryConfig(
  env: Record<string, string | undefined>,
  flags: RegistryFlags = {},
): RegistryConfig {
  const settings = readSettings(registrySettings, { env, flags }, (message) => {
    throw new ConfigError(message)
  })
  return {
    ...settings,
    statementTimeoutMs: 30_000,
    ballastBytes: undefined,
    announceIntervalSeconds: 900,
    timeouts: { readerMs: 60_000, senderMs: 30_000, headersMs: 60_000, idleMs: 72_000 },
    log: 'stdout',
  }
}
