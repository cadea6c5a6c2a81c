import type { LoadedModel } from '@shoal/protocol/inference-client'
import { toTerminalLine } from '../terminal/terminal-text.ts'

/** Returns the title of a loaded model, such as `shoal-tiny:Q8_0`, even if it was loaded without a quantization. */
export function formatLoadedTitle({
  name,
  details,
}: Pick<LoadedModel, 'name' | 'details'>): string {
  const bare = toTerminalLine(name).replace(/:latest$/, '')
  const label = toTerminalLine(details?.quantization_level ?? '')
  return bare.includes(':') || label === '' ? bare : `${bare}:${label}`
}
