/** Ends reading with an error. `why` is the rest of a sentence that begins with the setting's name. */
export type Refuse = (why: string) => never

/** Makes a value out of what was typed, or refuses it. */
export type Parse<T> = (text: string, refuse: Refuse) => T

/** Texts may hold Markdown's backticks, which help leaves out. */
export type Setting<T> = {
  /** The environment variable. */
  readonly variable?: string
  /** The flag as help shows it: `--port <number>`. */
  readonly flag?: string
  /** The name under which `shoal config` saves it. */
  readonly saved?: string
  readonly parse: Parse<T>
  /** As a user would type it. */
  readonly default?: string
  /** Describes a default whose value says too little, or is computed. */
  readonly defaultPhrase?: string
  /** A noun phrase with the unit, for help and docs. */
  readonly description: string
  /** What only docs add to it, in Markdown. */
  readonly details?: string
}

export type SettingsTable = Readonly<Record<string, Setting<unknown>>>

/** The config object that a table describes. */
export type SettingsOf<Table extends SettingsTable> = {
  [Key in keyof Table]: Table[Key] extends Setting<infer T> ? T : never
}

/** Describes a setting. Its value is undefined if it has no default and is not set. */
export function setting<T>(description: Setting<T> & { default: string }): Setting<T>
export function setting<T>(description: Setting<T>): Setting<T | undefined>
export function setting<T>(description: Setting<T>): Setting<T> {
  return description
}

/** As errors call it: `SHOAL_PORT (or --port)`. */
export function getSettingName({ variable, flag }: Setting<unknown>): string {
  if (flag === undefined) return variable ?? ''
  return variable === undefined ? flagName(flag) : `${variable} (or ${flagName(flag)})`
}

/** `--base-url` of `--base-url <address>`. */
export const flagName = (flag: string): string => flag.split(' ', 1)[0] ?? flag
