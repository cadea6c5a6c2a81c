import type { Command } from 'commander'
import { type Config, readSaved } from '../settings/config.ts'
import { createParsedOption } from '../settings/options.ts'
import { savedSettings } from '../settings/settings.ts'

export type LimitOptions = { limitRate?: number; connections?: number }

export function addLimitOptions(command: Command): Command {
  return command
    .addOption(createParsedOption(savedSettings['limit-rate']))
    .addOption(createParsedOption(savedSettings.connections))
}

/** Reads the limits of a transfer. Flags take precedence over saved settings. */
export function readLimits(options: LimitOptions, config: Config) {
  return {
    rateLimit: options.limitRate ?? readSaved('limit-rate', config),
    connections: options.connections ?? readSaved('connections', config),
  }
}
