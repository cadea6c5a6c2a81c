import type { DaemonConfig } from '@shoal/daemon'
import type { Context } from '../context.ts'
import { readSaved } from '../settings/config.ts'
import { readCredentials } from '../settings/credentials.ts'
import { readCliSetting } from '../settings/read-cli-setting.ts'
import { cliSettings } from '../settings/settings.ts'

type Known = Pick<Context, 'config' | 'places' | 'registryAddress'> & {
  environment: Pick<Context['environment'], 'env'>
}

/**
 * Returns a function that lists the registries known to this machine: the current one, the saved one, and those where
 * the user is signed in. As in commands, the token from the environment is sent only to the current registry.
 */
export function otherRegistries({
  config,
  environment,
  places,
  registryAddress: current,
}: Known): NonNullable<DaemonConfig['otherRegistries']> {
  const saved = readSaved('registry', config) ?? current
  const ownToken = readCliSetting(cliSettings.token, environment)
  return async () => {
    const credentials = await readCredentials(places)
    const addresses = new Set([current, saved, ...Object.keys(credentials)])
    return [...addresses].map((address) => ({
      address,
      token: (address === current ? ownToken : undefined) ?? credentials[address]?.token,
    }))
  }
}
