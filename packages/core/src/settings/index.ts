/** Settings, each described once: programs read them from these tables, and help and docs are generated from them. */
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
