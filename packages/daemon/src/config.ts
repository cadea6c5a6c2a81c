import { readFileSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { bareHost, isLoopback } from '@shoal/core/addresses'
import { memoryForModels } from '@shoal/model-file/choices'
import type { NetworkSettings } from '@shoal/network'
import type { SharingOptions } from '@shoal/transfer'
import { bytesOf, keepAliveOf, wholeNumberOf } from './config-values.ts'
import { ConfigError } from './errors.ts'
import { constrainedMemory, usableCores } from './machine.ts'

export type DaemonConfig = {
  host: string
  /** 0 takes a port that the system gives. */
  port: number
  modelsDirectory: string
  /** Where `installBackend` puts backends for graphics cards; undefined: only what came along. */
  backendsDirectory: string | undefined
  /** The key that every request must carry; undefined: any will do, and none. */
  apiKey: string | undefined
  /** What the daemon proves to know; undefined: nobody asks it who it is. */
  proofToken: string | undefined
  /** Web pages that may call, besides those of this machine. */
  origins: string[]
  /** Tokens of one conversation. */
  contextLength: number
  slots: number
  threads: number
  /** Whether a model may compute with fewer threads where that is faster. Not where somebody chose their number. */
  areThreadsAdapted: boolean
  memoryBytes: number
  queueLength: number
  /** How local files are shared with other people; undefined: not at all. */
  sharing:
    | Omit<SharingOptions, 'modelsDirectory' | 'registry' | 'onDropped' | 'onFailed'>
    | undefined
  /** Where models are pulled from. */
  registry:
    | {
        address: string
        token: string | undefined
        /** Default: straight to it. */
        network?: NetworkSettings
      }
    | undefined
  keepAliveMs: number
  log: 'stdout' | 'silent' | { file: string }
}

/** Flags of the command line, as typed. A flag wins over the environment. */
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
}

const ports = { least: 0, most: 65_535 }
/** Below this no model answers a sentence; above it no model was made. */
const contextLengths = { least: 64, most: 2 ** 24 }

/** Reads the environment and the flags once. Throws a `ConfigError` that names what is wrong. */
export function readDaemonConfig(
  env: Record<string, string | undefined>,
  flags: DaemonFlags & { models: string },
): DaemonConfig {
  const host = bareHost(flags.host ?? (env.SHOAL_HOST || '127.0.0.1'))
  const apiKey = apiKeyOf(env, flags)
  if (!isLoopback(host) && apiKey === undefined && !flags.anyKey) {
    throw new ConfigError(
      `on ${host} others can reach this daemon: give it a key with SHOAL_API_KEY or --api-key-file, or say --any-key`,
    )
  }
  return {
    host,
    port: wholeNumberOf('SHOAL_PORT (or --port)', flags.port ?? (env.SHOAL_PORT || '11434'), ports),
    modelsDirectory: flags.models,
    backendsDirectory: undefined,
    apiKey,
    proofToken: undefined,
    origins: [...(flags.origin ?? []), ...listOf(env.SHOAL_ORIGINS)].map(originOf),
    ...capacityOf(env, flags),
    queueLength: 64,
    sharing: undefined,
    registry: undefined,
    log: 'stdout',
  }
}

function capacityOf(env: Record<string, string | undefined>, flags: DaemonFlags) {
  const { SHOAL_CONTEXT_LENGTH, SHOAL_THREADS, SHOAL_SLOTS, SHOAL_MEMORY, SHOAL_KEEP_ALIVE } = env
  return {
    contextLength: wholeNumberOf(
      'SHOAL_CONTEXT_LENGTH (or --context-length)',
      flags.contextLength ?? (SHOAL_CONTEXT_LENGTH || '8192'),
      contextLengths,
    ),
    threads: wholeNumberOf(
      'SHOAL_THREADS (or --threads)',
      flags.threads ?? (SHOAL_THREADS || String(usableCores())),
      { least: 1, most: 1024 },
    ),
    areThreadsAdapted: (flags.threads ?? SHOAL_THREADS ?? '') === '',
    slots: wholeNumberOf('SHOAL_SLOTS (or --slots)', flags.slots ?? (SHOAL_SLOTS || '4'), {
      least: 1,
      most: 256,
    }),
    memoryBytes: bytesOf(
      'SHOAL_MEMORY (or --memory)',
      flags.memory ?? (SHOAL_MEMORY || String(memoryForModels(constrainedMemory()))),
    ),
    keepAliveMs: keepAliveOf(
      'SHOAL_KEEP_ALIVE (or --keep-alive)',
      flags.keepAlive ?? (SHOAL_KEEP_ALIVE || '5m'),
    ),
  }
}

function apiKeyOf(env: Record<string, string | undefined>, { apiKeyFile }: DaemonFlags) {
  const key = apiKeyFile ? keyIn(apiKeyFile) : env.SHOAL_API_KEY?.trim()
  if (apiKeyFile && key === '') throw new ConfigError(`${apiKeyFile} holds no key`)
  return key || undefined
}

function keyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const { errno, message } = error as NodeJS.ErrnoException
    const why = errno === undefined ? message : getSystemErrorMessage(errno)
    throw new ConfigError(`the key in ${file} cannot be read: ${why}`, { cause: error })
  }
}

function originOf(text: string): string {
  if (URL.canParse(text) && new URL(text).origin !== 'null') return new URL(text).origin
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/]*$/.test(text)) return text // of an app, such as app://obsidian.md
  throw new ConfigError(`SHOAL_ORIGINS holds origins such as http://localhost:3000, not "${text}"`)
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
