import type { Preset } from '@shoal/transfer'

/** Lists the settings of a model, one per line, under the names of Ollama's parameters. */
export function listPreset({
  parameters,
  system,
  template,
  keep_alive,
  aliases,
}: Preset): string[] {
  const settings = {
    ...parameters,
    ...(keep_alive !== undefined && { keep_alive }),
    ...(system !== undefined && { system }),
    ...(template !== undefined && { template: `${template.length} characters` }),
    ...(aliases && { aliases }),
  }
  return Object.entries(settings).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(', ') : String(value)
    return `${name.padEnd(18)} ${text}`
  })
}
