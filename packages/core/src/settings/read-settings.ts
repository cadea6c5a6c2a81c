import {
  flagName,
  getSettingName,
  type Setting,
  type SettingsOf,
  type SettingsTable,
} from './setting.ts'

/** Where settings come from, each as it was typed. */
export type SettingSources = {
  env: Readonly<Record<string, string | undefined>>
  /** By the names that commander gives them: `--base-url` is `baseUrl`. A list adds to what the variable holds. */
  flags?: Readonly<Record<string, string | readonly string[] | undefined>>
  saved?: Readonly<Record<string, string | undefined>>
}

/**
 * Reads all settings of a table: the flag, otherwise the variable, the saved setting, or the default. A blank variable counts as
 * not set, and so does a blank saved setting. `refuse` throws the error for a wrong value; its message names the variable and the flag.
 */
export function readSettings<Table extends SettingsTable>(
  table: Table,
  sources: SettingSources,
  refuse: (message: string) => never,
): SettingsOf<Table> {
  const values = Object.entries(table).map(([key, one]) => [key, readSetting(one, sources, refuse)])
  return Object.fromEntries(values) as SettingsOf<Table>
}

export function readSetting<T>(
  one: Setting<T>,
  sources: SettingSources,
  refuse: (message: string) => never,
): T {
  const text = typedText(one, sources) ?? one.default
  if (text === undefined) return undefined as T // `setting` gives it a type that has undefined
  return one.parse(text, (why) => refuse(`${getSettingName(one)} ${why}`))
}

function typedText({ flag, variable, saved }: Setting<unknown>, sources: SettingSources) {
  const fromFlag = flag && sources.flags?.[attributeName(flag)]
  const fromVariable = variable && notBlank(sources.env[variable])
  if (Array.isArray(fromFlag)) return [...fromFlag, fromVariable ?? ''].join(',')
  return (
    (fromFlag as string | undefined) ?? fromVariable ?? (saved && notBlank(sources.saved?.[saved]))
  )
}

const notBlank = (text: string | undefined) => (text?.trim() ? text : undefined)

/** `baseUrl` of `--base-url <address>`. */
const attributeName = (flag: string) =>
  flagName(flag)
    .replace(/^--/, '')
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
