import {
  fileVariable,
  flagName,
  getSettingName,
  type Setting,
  type SettingsOf,
  type SettingsTable,
} from './setting.ts'

/** Sources of settings. The values are as the user typed them. */
export type SettingSources = {
  env: Readonly<Record<string, string | undefined>>
  /**
   * The keys have the form that the library `commander` uses, such as `baseUrl` for `--base-url`. If a flag has a list
   * of values, the variable's values are appended to that list.
   */
  flags?: Readonly<Record<string, string | readonly string[] | undefined>>
  saved?: Readonly<Record<string, string | undefined>>
}

/**
 * Reads all settings in a table. A setting's value comes from the first of these that is set: its flag, its variable
 * (for a secret, also the file that the variable with the suffix `_FILE` names), the saved setting, the default. A blank
 * variable or saved setting counts as not set. For an invalid value, calls
 * `refuse` with a message that contains the names of the variable and the flag; `refuse` must throw an error.
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
  const file = findFile(one, sources.env, refuse)
  const text = typedText(one, file ? { ...sources, env: file.env } : sources) ?? one.default
  if (text === undefined) return undefined as T // without a default, `T` includes undefined: see `setting`
  return one.parse(text, (why) => refuse(`${file?.variable ?? getSettingName(one)} ${why}`))
}

/** If a secret is in a file, returns the variable with the file's path, and an environment with the secret itself. */
function findFile(
  { variable = '', readFile }: Setting<unknown>,
  env: SettingSources['env'],
  refuse: (message: string) => never,
) {
  const name = fileVariable(variable)
  const path = readFile && notBlank(env[name])?.trim()
  if (path === undefined) return undefined
  if (notBlank(env[variable]))
    return refuse(`${variable} and ${name} are both set: unset one of them`)
  let content: string
  try {
    content = readFile?.(path).trim() ?? ''
  } catch (error) {
    return refuse(`${name} must be a readable file: ${(error as Error).message}`)
  }
  if (content === '') return refuse(`${name} must be a file with the value, but ${path} is empty`)
  return { variable: name, env: { ...env, [variable]: content } }
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
