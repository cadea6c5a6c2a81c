import { ApiError, NetworkError } from '@shoal/protocol/client'
import { Command } from 'commander'
import { forgetKnownModels } from '../completion/known-models.ts'
import type { OpenContext } from '../context.ts'
import { networkFailure } from '../failures/network-failures.ts'
import { forgetCredential, readCredentials } from '../settings/credentials.ts'
import { readCliSetting } from '../settings/read-cli-setting.ts'
import { cliSettings } from '../settings/settings.ts'

/** The prefix of session tokens. Logout ends only sessions, because an API key may be in use on other machines. */
const sessionPrefix = 'shs_'

export function logoutCommand(open: OpenContext): Command {
  return new Command('logout').description('sign out of the registry').action(async () => {
    const { printer, places, environment, registryAddress, openRegistry } = await open()
    const credential = (await readCredentials(places))[registryAddress]
    const { client, label } = await openRegistry(undefined, credential?.token)
    if (credential?.token.startsWith(sessionPrefix)) {
      await client.logout().catch((error: unknown) => {
        // The token is removed from this machine regardless, but the registry may still accept it.
        if (error instanceof NetworkError) {
          const { message } = networkFailure(error.failure)
          printer.warn(`${message} The session remains valid until it expires.`)
        } else if (!(error instanceof ApiError)) {
          throw error
        } else if (error.status !== 401) {
          printer.warn(`The session at ${label} could not be ended: ${error.message}.`)
        }
      })
    }
    if (credential) {
      await forgetCredential(places, registryAddress)
      await forgetKnownModels(places, registryAddress) // the cache may contain names of private models
      printer.success(`Signed out of ${label}.`)
    } else {
      printer.note(`You were not signed in to ${label}.`)
    }
    if (readCliSetting(cliSettings.token, environment) !== undefined) {
      printer.warn('SHOAL_TOKEN is still set, and commands continue to use it.')
    }
    await printer.answer(
      { registry: registryAddress, signed_out: credential !== undefined },
      () => [],
    )
  })
}
