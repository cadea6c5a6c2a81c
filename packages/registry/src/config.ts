import { type Clock, systemClock } from '@shoal/core/async'
import { readSettings, type SettingsOf } from '@shoal/core/settings'
import { ownProgramFolder } from '@shoal/releases'
import type { CacheLimits } from '@shoal/server/cache'
import { ConfigError } from './errors.ts'
import { type PasswordCost, recommendedCost } from './settings/password-cost.ts'
import { registrySettings } from './settings/settings.ts'
import type { S3Config } from './store/s3/open-s3.ts'
import { readS3Config } from './store/s3/read-s3-config.ts'

export type { PasswordCost } from './settings/password-cost.ts'
export type { RateLimitClass, RateLimits } from './settings/rate-limits.ts'

/** The operator's settings, and other settings that only tests change. */
export type RegistryConfig = SettingsOf<typeof registrySettings> & {
  /** The S3 store; undefined if files are kept in the data folder. */
  s3: S3Config | undefined
  /** Maximum duration of each database statement that a request executes, in milliseconds (PostgreSQL). */
  statementTimeoutMs: number
  /**
   * Size of the file that reserves disk space for SQLite's writes. Default: 1% of the disk, but at least 1 MiB and at
   * most 32 MiB.
   */
  ballastBytes: number | undefined
  /**
   * Interval at which torrent clients announce. A client that has not announced for two intervals is removed from its
   * swarms.
   */
  announceIntervalSeconds: number
  passwordCost: PasswordCost
  timeouts: ConnectionTimeouts
  /** Limits of each of the two caches of responses. */
  responseCache: CacheLimits
  /** Measures how long a node caches what it has read, and the windows of its rate limits. */
  clock: Clock
  /**
   * How often a node polls the database for files to process. Polling finds files that the node was not notified of,
   * such as those that a crashed node was processing.
   */
  processingPollMs: number
  /** The folder of the release from which the registry runs; undefined if it runs from a clone or the npm package. */
  programFolder: string | undefined
  log: 'stdout' | 'silent' | { file: string }
}

/**
 * How long a client may make no progress before its connection is closed, in milliseconds. A slow connection that makes
 * progress stays open.
 */
export type ConnectionTimeouts = {
  /** How long a client may go without reading any of a response. */
  readerMs: number
  /** How long a client may go without sending any of a request body. */
  senderMs: number
  /** How long a request's headers may take to arrive. */
  headersMs: number
  /** How long a connection may stay open without a request. */
  idleMs: number
}

/** Unparsed command-line flags. A flag overrides the corresponding environment variable. */
export type RegistryFlags = { host?: string; port?: string; data?: string; baseUrl?: string }

/**
 * Reads the settings from the environment and the flags. If a setting is invalid, throws a `ConfigError` with the
 * variable's name in its message.
 */
export function readRegistryConfig(
  env: Record<string, string | undefined>,
  flags: RegistryFlags = {},
): RegistryConfig {
  const settings = readSettings(registrySettings, { env, flags }, (message) => {
    throw new ConfigError(message)
  })
  return {
    ...settings,
    s3: readS3Config(env),
    statementTimeoutMs: 30_000,
    ballastBytes: undefined,
    announceIntervalSeconds: 900,
    passwordCost: recommendedCost,
    timeouts: { readerMs: 60_000, senderMs: 30_000, headersMs: 60_000, idleMs: 72_000 },
    responseCache: { maxEntries: 4_000, maxBytes: 32 * 1024 * 1024 },
    clock: systemClock,
    // A node's lease on a file lasts 15 s, so if the node crashes, another one takes over the file within 20 s.
    processingPollMs: 4_000,
    programFolder: ownProgramFolder,
    log: 'stdout',
  }
}
