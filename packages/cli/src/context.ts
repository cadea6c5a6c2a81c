/** What a command works with, made when it runs: settings, the terminal, and registries by their address. */
import { type Ending, exitCodes } from '@shoal/core/errors/table'
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
import { type Places, readPlaces } from './settings/places.ts'
import { readCliSetting } from './settings/read-cli-setting.ts'
import { cliSettings, defaultRegistry } from './settings/settings.ts'
import { aboutUnknownVariables } from './settings/unknown-variables.ts'
import { type Asker, createAsker } from './terminal/asker.ts'
import type { GlobalOptions } from './terminal/global-options.ts'
import { createPrinter, type Printer } from './terminal/printer.ts'
import { waitNotes } from './terminal/wait-notes.ts'
import { version } from './version.ts'

/** The registry that was last spoken to. */
export type LastRegistry = { address: string; hasToken: boolean }

export type Registry = {
  client: RegistryClient
  /** What the client speaks through. */
  transport: Transport
  address: string
  /** As people call it: `localhost:8000`. */
  label: string
  token: string | undefined
}

export type Context = {
  environment: CliEnvironment
  options: GlobalOptions
  printer: Printer
  asker: Asker
  places: Places
  config: Config
  /** The registry that was named by flag, environment or configuration, in that order. */
  registryAddress: string
  /** How registries are reached. Read once, when it is first wanted. */
  networkSettings(): Promise<NetworkSettings>
  /** Without an argument that registry; otherwise another one, by host or address. */
  openRegistry(hostOrAddress?: string, token?: string): Promise<Registry>
  /** Who takes this promises to end by itself, and soon, after it has fired. */
  takeStopSignal(): AbortSignal
  /** For a command whose answer is a report: it was given, and what it reports is no success. */
  endWith(code: Ending): void
}

/**
 * Makes the context of the command that is about to run. `isTransfer`: a registry that is away is waited for. `isForShell`: the
 * answer is for a shell, whose user shall see nothing else.
 */
export type OpenContext = (options?: Options) => Promise<Context>

type Options = { isTransfer?: boolean; isForShell?: boolean }

/** What the top of the program has to know of a command once it has ended. */
export type Trace = {
  printer?: Printer
  lastRegistry?: LastRegistry
  endsByItself: boolean
  exitCode: number
}

const { default: _, ...withoutDefault } = cliSettings.registry
/** The registry of the flag or the variable. */
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
      registryAddress: current,

      async openRegistry(hostOrAddress, givenToken) {
        const credentials = await readCredentials(places)
        const known = [current, ...Object.keys(credentials)]
        const address = hostOrAddress ? registryAddress(hostOrAddress, known) : current
        // A token of the environment is for the registry of the environment, never for one that a reference names.
        const ownToken =
          address === current ? readCliSetting(cliSettings.token, { env }) : undefined
        const token = givenToken ?? ownToken ?? credentials[address]?.token
        const label = registryLabel(address)
        trace.lastRegistry = { address, hasToken: token !== undefined }
        const transport = await openTransport()
        const client = registryClient({
          baseUrl: address,
          token,
          userAgent: `shoal/${version}`,
          onWait: waitNotes(printer),
          retry: isTransfer
            ? transferRetry({ timeoutMs: (await networkSettings()).timeouts.giveUpMs })
            : undefined,
          transport,
        })
        return { client, transport, address, label, token }
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
