import { formatReference, registryOption, shellWord } from '@shoal/core/references'
import { useApp } from './context.ts'

/**
 * The parts of commands that depend on this registry's base URL, so that a copied command uses this registry wherever
 * it is run.
 */
export function useCommands() {
  const { registry } = useApp()
  return {
    /** Formats a model's name as a shell argument. `label` selects one of its files. */
    toArgument: (name: string, label?: string) => shellWord(formatReference(registry, name, label)),
    /** The option `--registry`, preceded by a space; empty if the CLI uses this registry by default. */
    registryOption: registryOption(registry),
  }
}
