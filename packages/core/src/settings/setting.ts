/** Throws an error. `why` completes a sentence that begins with the setting's name. */
export type Refuse = (why: string) => never

/** Parses the text that the user typed, or refuses it. */
export type Parse<T> = (text: string, refuse: Refuse) => T

/** Texts may contain Markdown backticks, which help omits. */
export type Setting<T> = {
  /** The environment variable. */
  readonly variable?: string
  /** The flag as help shows it: `--port <number>`. */
  readonly flag?: string
  /** The name `shoal config` saves it under. */
  readonly saved?: string
  readonly parse: Parse<T>
  /** As a user would type it. */
  readonly default?: string
  /** Text shown instead of the default, if the value is computed or not clear by itself. */
  readonly defaultPhrase?: string
  /** A noun phrase with the unit, for help and docs. */
  readonly description: string
  /** Markdown that only the docs add. */
  readonly details?: string
}

export type SettingsTable = Readonly<Record<string, Setting<unknown>>>

/** The config object for a settings table. */
export type SettingsOf<Table extends SettingsTable> = {
  [Key in keyof Table]: Table[Key] extends Setting<infer T> ? T : never
}

/** Describes a setting. Its value is undefined if it is not set and has no default. */
export function setting<T>(description: Setting<T> & { default: string }): Setting<T>
export function setting<T>(description: Setting<T>): Setting<T | undefined>
export function setting<T>(description: Setting<T>): Setting<T> {
  return description
}

/** The name used in errors: `SHOAL_PORT (or --port)`. */
export function getSettingName({ variable, flag }: Setting<unknown>): string {
  if (flag === undefined) return variable ?? ''
  return variable === undefined ? flagName(flag) : `${variable} (or ${flagName(flag)})`
}

/** `--base-url <address>` → `--base-url`. */
export const flagName = (flag: string): string => flag.split(' ', 1)[0] ?? flag
