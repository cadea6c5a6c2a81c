import { readFileSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { bareHost, isLoopback } from '@shoal/core/addresses'
import { readSettings, type SettingsOf } from '@shoal/core/settings'
import { memoryForModels } from '@shoal/model-file/choices'
import type { NetworkSettings } from '@shoal/network'
import type { PullOptions, SharingOptions } from '@shoal/transfer'
import { ConfigError } from './errors.ts'
import { usableCores } from './machine/cores.ts'
import { constrainedMemory } from './machine/memory.ts'
import { daemonSettings } from './settings.ts'

/** The user's settings with defaults filled in, and options set by the program that starts the daemon. */
export type DaemonConfig = Omit<Settings, 'threads' | 'memoryBytes'> & {
  threads: number
  /** Whether a model may use fewer threads if that is faster. False if the user has set the number of threads. */
  areThreadsAdapted: boolean
  memoryBytes: number
  modelsDirectory: string
  /**
   * Reads the paths of the read-only model folders. The GGUF files in these folders are also listed and can be run.
   * Called before each search, because the user may change the setting while the daemon is running. Undefined if there
   * are no such folders.
   */
  modelFolders: (() => Promise<string[]>) | undefined
  /** The folder of GPU backends; undefined if only the backends included with shoal are used. */
  backendsDirectory: string | undefined
  /** The secret with which the daemon proves its identity; undefined if clients do not verify its identity. */
  proofToken: string | undefined
  queueLength: number
  /** A stream in which nothing has been sent for this time, in milliseconds, sends a sign that the daemon is working. */
  silenceMs: number
  /** How local files are shared with peers; undefined if they are not shared. */
  sharing:
    | Omit<SharingOptions, 'modelsDirectory' | 'registry' | 'onDropped' | 'onFailed'>
    | undefined
  /** Creates the limits of one pull. */
  pullLimits: (() => Pick<PullOptions, 'rateLimit' | 'uploadLimit'>) | undefined
  /** The registry from which models are pulled unless their names contain another one. */
  registry:
    | {
        address: string
        token: string | undefined
        /** Default: a direct connection. */
        network?: NetworkSettings
      }
    | undefined
  /**
   * Reads the registries that this machine knows besides `registry`, with their credentials. The result may also
   * contain `registry` itself, with newer credentials. Called for each request, because the user may sign in or out
   * while the daemon is running. All requests use the network settings of `registry`.
   */
  otherRegistries: (() => Promise<{ address: string; token: string | undefined }[]>) | undefined
  log: 'stdout' | 'silent' | { file: string }
}

type Settings = SettingsOf<typeof daemonSettings>

/** Command-line flags, as the user typed them. A flag overrides the environment variable. */
export type DaemonFlags = {
  host?: string
  port?: string
  models?: string
  apiKeyFile?: string
  anyKey?: boolean
  origin?: string[]
  contextLength?: string
  threads?: string
  slots?: string
  memory?: string
  keepAlive?: string
  reasoningBudget?: string
}

/**
 * Reads the environment and the flags once. Throws a `ConfigError` if a setting is invalid, or if other machines could
 * use the daemon without a key and `--any-key` is not set.
 */
export function readDaemonConfig(
  env: Record<string, string | undefined>,
  { models, anyKey, apiKeyFile, ...flags }: DaemonFlags & { models: string },
): DaemonConfig {
  const settings = readSettings(daemonSettings, { env, flags }, (message) => {
    throw new ConfigError(message)
  })
  const host = bareHost(settings.host)
  const apiKey = apiKeyFile ? keyIn(apiKeyFile) : settings.apiKey
  if (!isLoopback(host) && apiKey === undefined && !anyKey) {
    throw new ConfigError(
      `other machines can reach this daemon at ${host}: set a key with SHOAL_API_KEY or --api-key-file, or use --any-key`,
    )
  }
  return {
    ...settings,
    host,
    apiKey,
    threads: settings.threads ?? usableCores(),
    areThreadsAdapted: settings.threads === undefined,
    memoryBytes: settings.memoryBytes ?? memoryForModels(constrainedMemory()),
    modelsDirectory: models,
    modelFolders: undefined,
    backendsDirectory: undefined,
    proofToken: undefined,
    queueLength: 64,
    silenceMs: 10_000,
    sharing: undefined,
    pullLimits: undefined,
    registry: undefined,
    otherRegistries: undefined,
    log: 'stdout',
  }
}

/** Reads an API key from a file. Throws a `ConfigError` if the file cannot be read or contains no key. */
function keyIn(file: string): string {
  const key = readContent(file).trim()
  if (key === '') throw new ConfigError(`${file} contains no key`)
  return key
}

function readContent(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { errno, message } = error as NodeJS.ErrnoException
    const why = errno === undefined ? message : getSystemErrorMessage(errno)
    throw new ConfigError(`the key in ${file} cannot be read: ${why}`, { cause: error })
  }
}
