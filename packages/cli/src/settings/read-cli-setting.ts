/** Reads CLI settings. An invalid value is a usage error. */
import {
  getSettingName,
  readSetting,
  type Setting,
  type SettingSources,
} from '@shoal/core/settings'
import { misuse, namingInput } from '../terminal/failure.ts'

export const readCliSetting = <T>(one: Setting<T>, sources: SettingSources): T =>
  namingInput(getSettingName(one), () => readSetting(one, sources, refuse))

export const parseCliSetting = <T>(one: Setting<T>, text: string): T => one.parse(text, refuse)

function refuse(message: string): never {
  throw misuse(`${message}.`)
}
