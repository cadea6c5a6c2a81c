/** Formats the parts of a command that specify a registry. `registry` is a label from `findRegistryLabel`. */
import { shellWord } from './reference.ts'

/** Formats a model's name as a shell argument that refers to the same model on every machine. */
export function formatModelArgument(registry: string | undefined, model: string): string {
  return shellWord(registry === undefined ? model : `${registry}/${model}`)
}

/** Returns the option `--registry`, preceded by a space, or an empty string for the CLI's default registry. */
export const registryOption = (registry: string | undefined): string =>
  registry === undefined ? '' : ` --registry ${shellWord(registry)}`
