import type { Environment } from '../environment.ts'
import { type Config, readConfig, readSaved } from './config.ts'
import type { Places } from './places.ts'
import { readCliSetting } from './read-cli-setting.ts'
import { modelFolders } from './settings.ts'

/** The read-only model folders, from the variable or else the saved setting. */
export const readModelFolders = (env: Environment, config: Config): string[] =>
  readCliSetting(modelFolders, { env }) ?? readSaved('model-folders', config) ?? []

/** Returns a function that rereads the setting, which may change while the daemon is running. */
export const modelFoldersReader = (env: Environment, places: Places) => async () =>
  readModelFolders(env, await readConfig(places))
