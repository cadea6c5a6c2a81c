import { networkSettings } from '@shoal/network'
import type { Command } from 'commander'
import { createOption } from './settings/options.ts'
import { cliSettings } from './settings/settings.ts'
import { oneOf } from './terminal/one-of.ts'

export function addGlobalOptions(program: Command): Command {
  return program
    .addOption(createOption(cliSettings.registry))
    .addOption(createOption(networkSettings.caFile))
    .option('--json', 'print the result as one JSON document on stdout')
    .addOption(oneOf('--progress <format>', 'print progress as JSON lines on stderr', ['json']))
    .option('-q, --quiet', 'print only results, warnings and errors')
    .option('-v, --verbose', 'print more detail')
    .option('--debug', 'print stack traces of errors')
    .option('--no-color', 'print without colors')
    .option('--no-input', 'never prompt for input')
    .option('-y, --yes', 'answer yes to all questions')
}
