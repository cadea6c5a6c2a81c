import type { LoadedModel } from '@shoal/protocol/inference-client'
import { toTerminalLine } from '../terminal/terminal-text.ts'

/** The title of a loaded model: `shoal-tiny:Q8_0`, even if it was loaded by its name only. */
export function formatLoadedTitle({
  name,
  details,
}: Pick<LoadedModel, 'name' | 'details'>): string {
  const bare = toTerminalLine(name).replace(/:latest$/, '')
  const label = toTerminalLine(details?.quantization_level ?? '')
  return bare.includes(':') || label === '' ? bare : `${bare}:${label}`
}
