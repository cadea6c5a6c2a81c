import { resolve } from 'node:path'
import type { Setting } from '@shoal/core/settings'
import type { DaemonConfig, DaemonFlags } from '@shoal/daemon'
import { daemonSettings } from '@shoal/daemon/settings'
import { type Command, Option } from 'commander'
import type { Context } from '../context.ts'
import { readSaved } from '../settings/config.ts'
import { modelFoldersReader } from '../settings/model-folders.ts'
import { createOption, showVariables } from '../settings/options.ts'
import { serveSettings } from '../settings/settings.ts'
import { repeated } from '../terminal/repeatable.ts'
import { wholeNumberParser } from '../terminal/units.ts'
import { type Rate, readPullLimits } from '../transfers/limits.ts'
import { ratioOption, readSharingSettings, uploadLimitOption } from '../transfers/peer-options.ts'
import { otherRegistries } from './other-registries.ts'
import { parseDaemonConfig } from './read-config.ts'
import { defaultLogFile } from './state-file.ts'

/** The options as typed. They are validated when the daemon's configuration is read. */
export type ServeOptions = Omit<DaemonFlags, 'models'> & {
  model?: string
  models?: string
  log?: string
  share?: boolean
  sharePort?: number
  limitUpload?: Rate
  ratio?: number
}

/**
 * Adds the options of the daemon, which `shoal serve` and `shoal service install` have in common. The help page lists
 * the variables of `settings`.
 */
export function addServeOptions(
  command: Command,
  settings: readonly Setting<unknown>[] = Object.values(daemonSettings),
): Command {
  const { port, host, contextLength, slots, threads, memoryBytes, keepAliveMs } = daemonSettings
  const { reasoningBudget, origins, apiKey } = daemonSettings
  command
    .addOption(createOption(serveSettings.model))
    .addOption(createOption(port))
    .addOption(createOption(host))
    .addOption(createOption(serveSettings.models))
    .addOption(createOption(contextLength))
    .addOption(createOption(slots))
    .addOption(createOption(threads))
    .addOption(createOption(memoryBytes))
    .addOption(createOption(keepAliveMs))
    .addOption(createOption(reasoningBudget))
    .addOption(repeated(createOption(origins)))
    .addOption(
      createOption({ ...apiKey, description: 'file with the API key that clients must send' }),
    )
    .option('--any-key', 'do not require an API key, even from clients on other machines')
    .option('--no-share', 'do not share models with peers')
    .addOption(
      new Option(
        '--share-port <number>',
        'port that peers connect to (default: any free port)',
      ).argParser(wholeNumberParser(0, 65_535)),
    )
    .addOption(uploadLimitOption())
    .addOption(ratioOption())
    .addOption(createOption(serveSettings.log))
  return showVariables(command, settings)
}

/** Combines flags, environment variables, saved settings and the user's folders into one configuration. */
export async function readServeConfig(
  context: Context,
  options: ServeOptions,
): Promise<DaemonConfig> {
  const { environment, places, openRegistry, networkSettings } = context
  const { log, models = places.models, ...flags } = withoutOurs(options)
  const { address, token } = await openRegistry()
  return {
    ...(await parseDaemonConfig(environment, { ...flags, models: resolve(models) })),
    backendsDirectory: places.backends,
    registry: { address, token, network: await networkSettings() },
    otherRegistries: otherRegistries(context),
    modelFolders: modelFoldersReader(environment.env, places),
    sharing: sharingWith(context, options),
    pullLimits: () => readPullLimits(context, options),
    log: log === '-' ? 'stdout' : { file: log ? resolve(log) : defaultLogFile(places) },
  }
}

/** Returns only the options that belong to the daemon's configuration. */
function withoutOurs(options: ServeOptions) {
  const {
    model: _,
    share: __,
    sharePort: ___,
    limitUpload: ____,
    ratio: _____,
    ...others
  } = options
  return others
}

/** Returns the sharing settings, or undefined if a flag or a setting turns sharing off. */
function sharingWith(context: Context, { share, sharePort, ...requested }: ServeOptions) {
  if (share === false || readSaved('peers', context.config) === 'off') return undefined
  return { ...readSharingSettings(requested, context), port: sharePort ?? 0 }
}

/** Converts all options given on the command line, except the option `without`, back to command-line arguments. */
export function formatTypedFlags(command: Command, without?: string): string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName()
    if (name === without || command.getOptionValueSource(name) !== 'cli') return []
    const flag = option.long ?? ''
    if (option.isBoolean() || option.negate) return [flag]
    const values = [command.getOptionValue(name) as unknown].flat()
    return values.map((value) => `${flag}=${String(value)}`)
  })
}
