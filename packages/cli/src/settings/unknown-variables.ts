/** Warns about `SHOAL_…` variables that no shoal program reads, which are probably typos. */
import { type Setting, variablesOf } from '@shoal/core/settings'
import { daemonSettings } from '@shoal/daemon/settings'
import { networkSettings } from '@shoal/network'
import { registrySettings, s3Settings } from '@shoal/registry/settings'
import type { Environment } from '../environment.ts'
import { findNearest } from './nearest.ts'
import { cliSettings } from './settings.ts'

/** The settings of all programs, because they often share one environment file. */
const settings: Setting<unknown>[] = [
  registrySettings,
  s3Settings,
  daemonSettings,
  networkSettings,
  cliSettings,
].flatMap((table) => Object.values<Setting<unknown>>(table))

const prefix = 'SHOAL_'
const known = new Set(settings.flatMap(variablesOf))
/** Variables of `scripts/cluster`, `npm run release` and `deploy/compose.yaml`, which may be in the same environment. */
const ofTools = new Set(['SHOAL_CLUSTER_DIR', 'SHOAL_RELEASE_KEY', 'SHOAL_DOMAIN', 'SHOAL_VERSION'])
const namesWithoutPrefix = [...known]
  .filter((name) => name.startsWith(prefix))
  .map((name) => name.slice(prefix.length))

/** Returns one sentence for each unknown variable. Variables of shoal's own tests are ignored. */
export function aboutUnknownVariables(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !name.startsWith('SHOAL_TEST_'))
    .filter((name) => !known.has(name) && !ofTools.has(name))
    .map((name) => {
      const nearest = findNearest(namesWithoutPrefix, name.slice(prefix.length))
      const hint = nearest === undefined ? '' : ` Did you mean ${prefix}${nearest}?`
      return `${name} is not a shoal setting.${hint}`
    })
}
