import { plainLine } from '../terminal/plain-text.ts'
import type { LoadedModel } from './daemon-client.ts'

/** As people know a loaded model: `shoal-tiny:Q8_0`, also where it goes by its name alone. */
export function titleOf({ name, details }: Pick<LoadedModel, 'name' | 'details'>): string {
  const bare = plainLine(name).replace(/:latest$/, '')
  const label = plainLine(details?.quantization_level ?? '')
  return bare.includes(':') || label === '' ? bare : `${bare}:${label}`
}
