import { flagName, type Setting } from './setting.ts'

/** The help text of a flag: `port to listen on (default: 8000)`. */
export function formatHelp(one: Setting<unknown>): string {
  const fallback = one.defaultPhrase ?? one.default
  const text = fallback ? `${one.description} (default: ${fallback})` : one.description
  return text.replaceAll('`', '')
}

/** Each variable with its help text. If its flag is listed in `flags`, the text is only the flag's name. */
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
