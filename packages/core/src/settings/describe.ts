import { flagName, type Setting } from './setting.ts'

/** What help says about a flag: `port to listen on (default: 8000)`. */
export function formatHelp(one: Setting<unknown>): string {
  const fallback = one.defaultPhrase ?? one.default
  const text = fallback ? `${one.description} (default: ${fallback})` : one.description
  return text.replaceAll('`', '')
}

/** Each variable with what help says about it, which is only the flag's name if it is among the `flags` listed above it. */
export function listVariables(
  settings: readonly Setting<unknown>[],
  flags: readonly string[],
): [string, string][] {
  return settings.flatMap((one) => {
    const { variable, flag } = one
    if (variable === undefined) return []
    return [[variable, flag && flags.includes(flag) ? flagName(flag) : formatHelp(one)]]
  })
}
