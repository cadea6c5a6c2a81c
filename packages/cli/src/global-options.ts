import { networkSettings } from '@shoal/network'
import type { Command } from 'commander'
import { createOption } from './settings/options.ts'
import { cliSettings } from './settings/settings.ts'
import { oneOf } from './terminal/one-of.ts'

export function addGlobalOptions(program: Command): Command {
  return program
    .addOption(createOption(cliSettings.registry))
    .addOption(createOption(networkSettings.caFile))
    .option('--json', 'one JSON document on stdout')
    .addOption(oneOf('--progress <form>', 'progress as JSON lines on stderr', ['json']))
    .option('-q, --quiet', 'results and errors only')
    .option('-v, --verbose', 'more about what is done')
    .option('--debug', 'where in the program an error arose')
    .option('--no-color', 'plain text')
    .option('--no-input', 'never ask')
    .option('-y, --yes', 'answer yes to questions')
}
