import { formatModelArgument, registryOption } from '@shoal/core/references'
import { useApp } from './context.ts'

/**
 * Returns the parts of commands that name this registry, so that a copied command uses this registry on any machine.
 */
export function useCommands() {
  const { registryLabel } = useApp()
  return {
    /** Formats a model's name as a shell argument. `label` selects one of its files. */
    toArgument: (name: string, label?: string) =>
      formatModelArgument(registryLabel, label === undefined ? name : `${name}:${label}`),
    /** The option `--registry`, preceded by a space; empty if the CLI uses this registry by default. */
    registryOption: registryOption(registryLabel),
  }
}
