import { readFileSync } from 'node:fs'
import { ConfigError } from './errors.ts'
import { availableParallelism, constrainedMemory } from './machine.ts'

export type DaemonConfig = {
  host: string
  /** 0 takes a port that the system gives. */
  port: number
  modelsDirectory: string
  /** The key that every request must carry; undefined: any will do, and none. */
  apiKey: string | undefined
  /** Web pages that may call, besides those of this machine. */
  origins: string[]
  /** Tokens of one conversation. */
  contextLength: number
  slots: number
  threads: number
  memoryBytes: number
  queueLength: number
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
}

const defaultKeepAliveMs = 5 * 60_000
/** Models may take so much of the machine's memory. */
const memoryShare = 0.85

/** Reads the environment and the flags once. Throws a `ConfigError` that names what is wrong. */
export function readDaemonConfig(
  env: Record<string, string | undefined>,
  flags: DaemonFlags & { models: string },
): DaemonConfig {
  const host = flags.host ?? (env.SHOAL_HOST || '127.0.0.1')
  const apiKey = apiKeyOf(env, flags)
  if (!isLoopback(host) && apiKey === undefined && !flags.anyKey) {
    throw new ConfigError(
      `on ${host} others can reach this daemon: give it a key with SHOAL_API_KEY or --api-key-file, or say --any-key`,
    )
  }
  return {
    host,
    port: portOf(flags.port ?? (env.SHOAL_PORT || '11434')),
    modelsDirectory: flags.models,
    apiKey,
    origins: [...(flags.origin ?? []), ...listOf(env.SHOAL_ORIGINS)].map(originOf),
    contextLength: 8192,
    slots: 4,
    threads: availableParallelism(),
    memoryBytes: constrainedMemory() * memoryShare,
    queueLength: 64,
    keepAliveMs: defaultKeepAliveMs,
    log: 'stdout',
  }
}

/** Whether only programs on this machine can reach a server that listens on `host`. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (bare === 'localhost' || bare.endsWith('.localhost') || bare === '::1') return true
  return /^127(\.\d{1,3}){3}$/.test(bare)
}

function apiKeyOf(env: Record<string, string | undefined>, { apiKeyFile }: DaemonFlags) {
  const key = apiKeyFile ? readFileSync(apiKeyFile, 'utf8').trim() : env.SHOAL_API_KEY?.trim()
  if (apiKeyFile && key === '') throw new ConfigError(`${apiKeyFile} holds no key`)
  return key || undefined
}

function portOf(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > 65_535) {
    throw new ConfigError(`SHOAL_PORT (or --port) is a number from 0 to 65535, not "${text}"`)
  }
  return value
}

function originOf(text: string): string {
  if (URL.canParse(text) && new URL(text).origin !== 'null') return new URL(text).origin
  throw new ConfigError(`SHOAL_ORIGINS holds origins such as http://localhost:3000, not "${text}"`)
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
