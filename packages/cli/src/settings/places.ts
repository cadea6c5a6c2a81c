import { join, resolve } from 'node:path'
import envPaths from 'env-paths'
import type { Environment } from '../environment.ts'
import { readCliSetting } from './read-cli-setting.ts'
import { cliSettings } from './settings.ts'

/** The folders that shoal uses on this machine. */
export type Places = { config: string; models: string; backends: string; state: string }

/** Returns folders in `SHOAL_HOME` if that variable is set; otherwise, the system's usual folders for the user. */
export function readPlaces(env: Environment): Places {
  const folder = readCliSetting(cliSettings.home, { env })
  if (folder !== undefined) {
    const home = resolve(folder)
    return {
      config: join(home, 'config'),
      models: join(home, 'data', 'models'),
      backends: join(home, 'data', 'backends'),
      state: join(home, 'state'),
    }
  }
  const system = envPaths('shoal', { suffix: '' })
  return {
    config: system.config,
    models: join(system.data, 'models'),
    backends: join(system.data, 'backends'),
    state: system.log,
  }
}
