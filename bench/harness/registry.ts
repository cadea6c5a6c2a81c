import type { RegistryInput } from '../children/registry.ts'
import { type Script, startScript } from './script.ts'

/** `token` is that of the registry's own account, which may publish. */
export type BenchRegistry = Script<{ url: string; listensAt: string; token: string }>

/** A registry in a process of its own. */
export function startRegistry(input: RegistryInput): Promise<BenchRegistry> {
  return startScript('registry', input)
}
