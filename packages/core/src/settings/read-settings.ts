import {
  flagName,
  getSettingName,
  type Setting,
  type SettingsOf,
  type SettingsTable,
} from './setting.ts'

/** Sources of settings, as the user typed them. */
export type SettingSources = {
  env: Readonly<Record<string, string | undefined>>
  /** Keyed as commander does: `--base-url` is `baseUrl`. A list is added to the value of the variable. */
  flags?: Readonly<Record<string, string | readonly string[] | undefined>>
  saved?: Readonly<Record<string, string | undefined>>
}

/**
 * Reads all settings in a table: the flag, or else the variable, the saved setting or the default. Blank variables and blank
 * saved settings count as not set. `refuse` throws the error for an invalid value; its message names the variable and the flag.
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
  if (text === undefined) return undefined as T // `setting` gives it a type that includes undefined
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

/** `--base-url <address>` → `baseUrl`. */
const attributeName = (flag: string) =>
  flagName(flag)
    .replace(/^--/, '')
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
