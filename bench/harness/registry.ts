import { type Script, startScript } from './script.ts'

export type RegistryInput = {
  dataDirectory: string
  databaseUrl?: string | undefined
  /** Under which address it is found; its own without it. */
  baseUrl?: string | undefined
  /** Where to write a CPU profile of everything after the start. */
  profile?: string | undefined
}

/** `token` is that of the registry's own account, which may publish. */
export type BenchRegistry = Script<{ url: string; listensAt: string; token: string }>

/** A registry in a process of its own. */
export function startRegistry(input: RegistryInput): Promise<BenchRegistry> {
  return startScript('registry', input)
}
