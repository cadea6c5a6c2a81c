/** Throws an error. `why` completes a sentence that begins with the setting's name. */
export type Refuse = (why: string) => never

/** Parses the text that the user typed. Calls `refuse` if the text is invalid. */
export type Parse<T> = (text: string, refuse: Refuse) => T

/** A setting. Its strings may contain Markdown backticks, which help output omits. */
export type Setting<T> = {
  /** The environment variable. */
  readonly variable?: string
  /**
   * Set for a secret: returns the content of a file, or throws a system error. The variable with the suffix `_FILE` can
   * then contain the path of a file with the secret, whose leading and trailing whitespace is ignored.
   */
  readonly readFile?: (path: string) => string
  /** The flag as shown in help: `--port <number>`. */
  readonly flag?: string
  /** The name under which `shoal config` saves the setting. */
  readonly saved?: string
  readonly parse: Parse<T>
  /** The default value, as a user would type it. */
  readonly default?: string
  /** Text shown in place of a default value that is computed or needs an explanation. */
  readonly defaultPhrase?: string
  /** A noun phrase for help and docs, including the unit. */
  readonly description: string
  /** Additional Markdown, which appears only in the docs. */
  readonly details?: string
}

export type SettingsTable = Readonly<Record<string, Setting<unknown>>>

/** The type of a settings table's values. */
export type SettingsOf<Table extends SettingsTable> = {
  [Key in keyof Table]: Table[Key] extends Setting<infer T> ? T : never
}

/** Defines a setting. Its value is undefined if the setting is not set and has no default. */
export function setting<T>(description: Setting<T> & { default: string }): Setting<T>
export function setting<T>(description: Setting<T>): Setting<T | undefined>
export function setting<T>(description: Setting<T>): Setting<T> {
  return description
}

/** The environment variable of a setting, and for a secret, the variable with the path of a file (`…_FILE`). */
export function variablesOf({ variable, readFile }: Setting<unknown>): string[] {
  if (variable === undefined) return []
  return readFile ? [variable, fileVariable(variable)] : [variable]
}

export const fileVariable = (variable: string) => `${variable}_FILE`

/** The name of the setting in error messages: `SHOAL_PORT (or --port)`. */
export function getSettingName({ variable, flag }: Setting<unknown>): string {
  if (flag === undefined) return variable ?? ''
  return variable === undefined ? flagName(flag) : `${variable} (or ${flagName(flag)})`
}

/** `--base-url <address>` → `--base-url`. */
export const flagName = (flag: string): string => flag.split(' ', 1)[0] ?? flag
