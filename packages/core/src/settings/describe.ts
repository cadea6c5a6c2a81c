import { fileVariable, flagName, type Setting } from './setting.ts'

/** The help text for a flag: `port to listen on (default: 8000)`. */
export function formatHelp(one: Setting<unknown>): string {
  const fallback = one.defaultPhrase ?? one.default
  const text = fallback ? `${one.description} (default: ${fallback})` : one.description
  return text.replaceAll('`', '')
}

/** Lists each variable with its help text. If the variable's flag is in `flags`, its text is `same as --port`. */
export function listVariables(
  settings: readonly Setting<unknown>[],
  flags: readonly string[],
): [string, string][] {
  return settings.flatMap((one) => {
    const { variable, flag } = one
    if (variable === undefined) return []
    return [
      [variable, flag && flags.includes(flag) ? `same as ${flagName(flag)}` : formatHelp(one)],
      ...(one.readFile
        ? [[fileVariable(variable), `file with ${variable}`] as [string, string]]
        : []),
    ]
  })
}
