/** Formats the parts of a command that say which registry it uses. The registry's label is from `findRegistryLabel`. */
import { shellWord } from './reference.ts'

/** Formats a model's name as a shell argument that means the same model on every machine. */
export function formatModelArgument(registry: string | undefined, model: string): string {
  return shellWord(registry === undefined ? model : `${registry}/${model}`)
}

/** Returns the option with which a command uses a registry, preceded by a space; empty for the CLI's default. */
export const registryOption = (registry: string | undefined): string =>
  registry === undefined ? '' : ` --registry ${shellWord(registry)}`
