import { type Command, Option } from 'commander'
import type { Config } from '../settings/config.ts'
import { parseBytes, wholeNumber } from '../terminal/units.ts'

export type LimitOptions = { limitRate?: number; connections?: number }

export function addLimitOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--limit-rate <speed>', 'at most so much a second, such as 10MB').argParser(
        parseBytes,
      ),
    )
    .addOption(
      new Option('--connections <number>', 'how many connections to open').argParser(
        wholeNumber(1, 64),
      ),
    )
}

/** What the flags say, else what the settings say, else nothing. */
export function limitsOf(options: LimitOptions, config: Config) {
  const kept = config['limit-rate']
  return {
    rateLimit: options.limitRate ?? (kept === undefined ? undefined : parseBytes(kept)),
    connections:
      options.connections ?? (config.connections ? Number(config.connections) : undefined),
  }
}
