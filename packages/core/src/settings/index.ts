/**
 * Tables of settings. Each setting is described once: programs read its value, and help and docs are generated from the
 * description.
 */
export { formatHelp, listVariables } from './describe.ts'
export { readSetting, readSettings, type SettingSources } from './read-settings.ts'
export {
  flagName,
  type Parse,
  type Refuse,
  type Setting,
  type SettingsOf,
  type SettingsTable,
  setting,
} from './setting.ts'
export { choice, list, port, size, wholeNumber, word } from './values.ts'
