import { join } from 'node:path'
import type { Limit } from '@shoal/transfer'
import type { Command } from 'commander'
import { type Config, readSaved } from '../settings/config.ts'
import { createParsedOption } from '../settings/options.ts'
import type { Places } from '../settings/places.ts'
import { savedSettings } from '../settings/settings.ts'
import type { RateSchedule } from '../terminal/rate-schedule.ts'
import { sharedLimit } from './shared-limit.ts'

export type Rate = number | RateSchedule
export type LimitOptions = { limitRate?: Rate; connections?: number }
/** The saved settings, and the places of the files through which processes share limits. */
export type LimitPlaces = { config: Config; places: Pick<Places, 'state'> }

export function addLimitOptions(command: Command): Command {
  return command
    .addOption(createParsedOption(savedSettings['limit-rate']))
    .addOption(createParsedOption(savedSettings.connections))
}

/** Reads the limits of a transfer. Flags take precedence over saved settings. */
export function readLimits(
  options: LimitOptions,
  context: LimitPlaces,
  direction: 'pull' | 'push',
) {
  const { config } = context
  return {
    rateLimit: shareLimit(options.limitRate ?? readSaved('limit-rate', config), context, direction),
    connections: options.connections ?? readSaved('connections', config),
  }
}

/** The limits of a pull by the daemon. */
export const readPullLimits = (
  context: LimitPlaces,
  { limitUpload }: { limitUpload?: Rate } = {},
) => ({
  rateLimit: readLimits({}, context, 'pull').rateLimit,
  uploadLimit: readUploadLimit(limitUpload, context),
})

/** The limit of what is sent to peers. A flag takes precedence over the saved setting. */
export const readUploadLimit = (flag: Rate | undefined, context: LimitPlaces) =>
  shareLimit(flag ?? readSaved('limit-upload', context.config), context, 'peers')

/** A limit that all of the user's processes share. Each transfer needs its own. */
function shareLimit(
  rate: Rate | undefined,
  { places }: LimitPlaces,
  kind: 'pull' | 'push' | 'peers',
): Limit | undefined {
  if (rate === undefined) return undefined
  const readTotal = () => (typeof rate === 'number' ? rate : rate.at(new Date()))
  return sharedLimit(join(places.state, 'limits', kind), readTotal)
}
