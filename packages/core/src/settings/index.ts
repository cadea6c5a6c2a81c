/**
 * Tables of settings. Each setting is defined once. Programs use the definition to read the value, and the help and
 * docs are generated from it.
 */
export { formatHelp, listVariables } from './describe.ts'
export { readSetting, readSettings, type SettingSources } from './read-settings.ts'
export {
  flagName,
  getSettingName,
  type Parse,
  type Refuse,
  type Setting,
  type SettingsOf,
  type SettingsTable,
  setting,
  variablesOf,
} from './setting.ts'
export { choice, list, port, size, wholeNumber, word } from './values.ts'
