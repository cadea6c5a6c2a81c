/** The saved settings, in `config.json`. */
import { delimiter, join } from 'node:path'
import type { Setting, SettingsOf } from '@shoal/core/settings'
import { misuse, namingInput } from '../terminal/failure.ts'
import { readJsonFile, updateJsonFile } from './json-file.ts'
import { findNearest } from './nearest.ts'
import type { Places } from './places.ts'
import { parseCliSetting } from './read-cli-setting.ts'
import { savedSettings } from './settings.ts'

export type ConfigKey = keyof typeof savedSettings
export type Config = {
  /** The path of the file, for error messages. */
  path: string
  /** The values as typed, not yet validated. */
  values: Partial<Record<ConfigKey, string>>
}

export const configPath = (places: Places) => join(places.config, 'config.json')

export async function readConfig(places: Places): Promise<Config> {
  const path = configPath(places)
  const content = await readJsonFile(path)
  const known = Object.entries(content).filter(([key]) => key in savedSettings)
  return { path, values: Object.fromEntries(known.map(([key, value]) => [key, toText(value)])) }
}

/**
 * Converts a value to text. A user may have edited the file and written `false` instead of `"off"`, or folders as an
 * array.
 */
const toText = (value: unknown) => {
  if (Array.isArray(value)) return value.join(delimiter)
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)
}

/** Saves a setting. An empty value removes the setting. */
export async function setConfig(places: Places, key: ConfigKey, text: string): Promise<void> {
  const value = text === '' ? undefined : acceptedText(key, text)
  await updateJsonFile(configPath(places), 0o644, (content) => ({ ...content, [key]: value }))
}

/**
 * Returns the text to save for a new value: an address or a keyword in its canonical form, folders as absolute paths, a
 * number or a speed as typed. Throws if the value is invalid.
 */
export function acceptedText(key: ConfigKey, text: string): string {
  const value = parseSaved(key, text)
  if (Array.isArray(value)) return value.join(delimiter)
  return typeof value === 'string' ? value : text
}

/**
 * Returns the value of a saved setting, or undefined if the setting is not saved. If the value is invalid, throws a
 * usage error that contains the path of the file.
 */
export function readSaved<Key extends ConfigKey>(key: Key, { path, values }: Config) {
  const text = values[key]
  if (!text?.trim()) return undefined
  return namingInput(`${key} in ${path}`, () => parseSaved(key, text))
}

function parseSaved<Key extends ConfigKey>(key: Key, text: string) {
  return parseCliSetting(savedSettings[key] as Setting<SettingsOf<typeof savedSettings>[Key]>, text)
}

export function configKey(text: string): ConfigKey {
  if (Object.hasOwn(savedSettings, text)) return text as ConfigKey
  const names = Object.keys(savedSettings)
  const nearest = findNearest(names, text)
  throw misuse(
    `Unknown setting “${text}”.`,
    nearest ? `Did you mean ${nearest}?` : `Valid settings: ${names.join(', ')}.`,
  )
}
