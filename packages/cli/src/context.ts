/** The context of a command: its settings, the terminal and access to registries. Created when the command runs. */
import { type Ending, exitCodes } from '@shoal/core/errors/table'
import { defaultRegistry } from '@shoal/core/references'
import { setting } from '@shoal/core/settings'
import {
  type NetworkSettings,
  readNetworkSettings,
  registryTransport,
  transferRetry,
} from '@shoal/network'
import { type RegistryClient, registryClient, type Transport } from '@shoal/protocol/client'
import type { CliEnvironment } from './environment.ts'
import { registryAddress, registryLabel } from './settings/address.ts'
import { type Config, readConfig, readSaved } from './settings/config.ts'
import { readCredentials } from './settings/credentials.ts'
import { readModelFolders } from './settings/model-folders.ts'
import { type Places, readPlaces } from './settings/places.ts'
import { readCliSetting } from './settings/read-cli-setting.ts'
import { aboutRefusedToken, type RegistryAccess } from './settings/refused-token.ts'
import { cliSettings } from './settings/settings.ts'
import { aboutUnknownVariables } from './settings/unknown-variables.ts'
import { type Asker, createAsker } from './terminal/asker.ts'
import type { GlobalOptions } from './terminal/global-options.ts'
import { createPrinter, type Printer } from './terminal/printer.ts'
import { waitNotes } from './terminal/wait-notes.ts'
import { version } from './version.ts'

export type Registry = {
  client: RegistryClient
  /** The transport that the client uses. */
  transport: Transport
  address: string
  /** The registry's host and port, for display: `localhost:8000`. */
  label: string
  token: string | undefined
  access: RegistryAccess
}

export type Context = {
  environment: CliEnvironment
  options: GlobalOptions
  printer: Printer
  asker: Asker
  places: Places
  config: Config
  /** The read-only model folders. */
  modelFolders: readonly string[]
  /** The current registry's address: from the flag, the variable, the saved setting or the default, in this order. */
  registryAddress: string
  /** The settings for connections to registries. Read once, at first use. */
  networkSettings(): Promise<NetworkSettings>
  /** Opens the registry with this host or address. Default: `registryAddress`. */
  openRegistry(hostOrAddress?: string, token?: string): Promise<Registry>
  /** Returns the stop signal. A command that calls this must itself end soon after the signal fires. */
  takeStopSignal(): AbortSignal
  /** Sets the exit code of a command that completes without an error but reports a failure. */
  endWith(code: Ending): void
}

/**
 * Creates a command's context. With `isTransfer`, failed requests are retried for longer. With `isForShell`, the output
 * is for shell completion, so there are no warnings about unknown variables.
 */
export type OpenContext = (options?: Options) => Promise<Context>

type Options = { isTransfer?: boolean; isForShell?: boolean }

/** The state of a command that `runCommandLine` reads after the command has ended. */
export type Trace = {
  printer?: Printer
  /** The registry that the command opened last. */
  lastRegistry?: RegistryAccess
  endsByItself: boolean
  exitCode: number
}

const { default: _, ...withoutDefault } = cliSettings.registry
/** The registry setting without its default, which applies only if there is no saved setting either. */
const namedRegistry = setting(withoutDefault)

export function contextOpener(
  environment: CliEnvironment,
  trace: Trace,
  readOptions: () => GlobalOptions,
): OpenContext {
  return async ({ isTransfer = false, isForShell = false } = {}) => {
    const options = readOptions()
    const { env, stopSignal } = environment
    const printer = createPrinter(environment, options)
    const warnings = isForShell || trace.printer ? [] : aboutUnknownVariables(env)
    for (const line of warnings) printer.warn(line)
    trace.printer = printer
    const places = readPlaces(env)
    const config = await readConfig(places)
    const { registry } = options
    const current =
      readCliSetting(namedRegistry, { env, flags: { registry } }) ??
      readSaved('registry', config) ??
      defaultRegistry

    let reading: Promise<NetworkSettings> | undefined
    function networkSettings() {
      reading ??= readNetworkSettings(env, options.cacert)
      return reading
    }
    async function openTransport(): Promise<Transport> {
      const transport = registryTransport(await networkSettings())
      return options.verbose ? loggingTransport(transport, printer) : transport
    }

    return {
      environment,
      options,
      printer,
      networkSettings,
      asker: createAsker(environment, { canAsk: printer.can.canAsk, yes: options.yes === true }),
      places,
      config,
      modelFolders: readModelFolders(env, config),
      registryAddress: current,

      async openRegistry(hostOrAddress, givenToken) {
        const credentials = await readCredentials(places)
        const known = [current, ...Object.keys(credentials)]
        const address = hostOrAddress ? registryAddress(hostOrAddress, known) : current
        // The token from the environment is sent only to the current registry, not to a registry in a model reference.
        const ownToken =
          address === current ? readCliSetting(cliSettings.token, { env }) : undefined
        const saved = credentials[address]?.token
        const token = givenToken ?? ownToken ?? saved
        const label = registryLabel(address)
        const access: RegistryAccess = {
          address,
          tokenFrom: givenToken
            ? 'input'
            : ownToken
              ? 'SHOAL_TOKEN'
              : saved
                ? 'sign-in'
                : undefined,
        }
        trace.lastRegistry = access
        const transport = await openTransport()
        const client = registryClient({
          baseUrl: address,
          token,
          userAgent: `shoal/${version}`,
          onTokenRefused() {
            if (isForShell) return
            const { message, hint } = aboutRefusedToken(access)
            printer.warn(`${message} Only public models are visible.`)
            printer.note(`  ${hint}`)
          },
          onWait: waitNotes(printer),
          retry: isTransfer
            ? transferRetry({ timeoutMs: (await networkSettings()).timeouts.giveUpMs })
            : undefined,
          transport,
        })
        return { client, transport, address, label, token, access }
      },

      takeStopSignal() {
        trace.endsByItself = true
        return stopSignal
      },

      endWith(code) {
        trace.exitCode = exitCodes[code]
      },
    }
  }
}

function loggingTransport(transport: Transport, printer: Printer): Transport {
  return async (request) => {
    const start = performance.now()
    const answer = await transport(request)
    const ms = Math.round(performance.now() - start)
    printer.detail(`  ${request.method} ${request.url} ${answer.status} ${ms} ms`)
    return answer
  }
}
