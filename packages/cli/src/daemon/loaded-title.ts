import type { LoadedModel } from '@shoal/protocol/inference-client'
import { plainLine } from '../terminal/plain-text.ts'

/** The title of a loaded model: `shoal-tiny:Q8_0`, even if it was loaded by its name only. */
export function formatLoadedTitle({
  name,
  details,
}: Pick<LoadedModel, 'name' | 'details'>): string {
  const bare = plainLine(name).replace(/:latest$/, '')
  const label = plainLine(details?.quantization_level ?? '')
  return bare.includes(':') || label === '' ? bare : `${bare}:${label}`
}
