import { readSettings, type SettingsOf } from '@shoal/core/settings'
import { ConfigError } from './errors.ts'
import { registrySettings } from './settings/settings.ts'

export type { RateLimitClass, RateLimits } from './settings/rate-limits.ts'

/** The settings of a user, and what only tests change. */
export type RegistryConfig = SettingsOf<typeof registrySettings> & {
  /** The longest that one statement of a request may take (PostgreSQL). */
  statementTimeoutMs: number
  /** Room that is kept for the database's own writes (SQLite); undefined: 1 % of the disk, from 1 to 32 MiB. */
  ballastBytes: number | undefined
  /** How often torrent clients tell the tracker that they are there. Who has not for twice as long is gone. */
  announceIntervalSeconds: number
  timeouts: ConnectionTimeouts
  log: 'stdout' | 'silent' | { file: string }
}

/** When a connection whose other side has stopped is ended, in milliseconds. Slow ones are not. */
export type ConnectionTimeouts = {
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

/** Reads the environment and the flags once. Throws a `ConfigError` that names the variable which is wrong. */
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
