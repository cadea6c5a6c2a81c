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
  /**
   * Whether the registry measures its event-loop delay. The message `reset` starts a new measurement; `delay` returns
   * its `EventLoopDelay`.
   */
  measuresDelay?: boolean
}

/** Time between turns of the event loop, which is one millisecond if nothing blocks the loop. */
export type EventLoopDelay = { p999Ms: number; maxMs: number }

/** `token` belongs to the registry's own account, which may publish. */
export type BenchRegistry = Script<{ url: string; listensAt: string; token: string }>

/** Starts a registry in its own process. */
export function startRegistry(input: RegistryInput): Promise<BenchRegistry> {
  return startScript('registry', input)
}
