import { type Script, startScript } from './script.ts'

export type RegistryInput = {
  dataDirectory: string
  databaseUrl?: string | undefined
  /** Other settings, as environment variables. */
  settings?: Record<string, string>
  /** The registry's base URL; the default is the address on which it listens. */
  baseUrl?: string | undefined
  /** The path for a CPU profile that covers everything after the registry's start. */
  profile?: string | undefined
  /** Whether it measures the delay of its event loop: `reset` begins, and `delay` returns an `EventLoopDelay`. */
  measuresDelay?: boolean
}

/** Between turns of the event loop, which would be one millisecond apart. */
export type EventLoopDelay = { p999Ms: number; maxMs: number }

/** `token` belongs to the registry's own account, which may publish. */
export type BenchRegistry = Script<{ url: string; listensAt: string; token: string }>

/** Starts a registry in its own process. */
export function startRegistry(input: RegistryInput): Promise<BenchRegistry> {
  return startScript('registry', input)
}
