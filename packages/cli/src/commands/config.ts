import { formatHelp } from '@shoal/core/settings'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { type ConfigKey, configKey, setConfig } from '../settings/config.ts'
import { savedSettings } from '../settings/settings.ts'
import { Failure } from '../terminal/failure.ts'

export function configCommand(open: OpenContext): Command {
  const config = new Command('config').description('show and change settings')

  config
    .command('get <key>')
    .description('show one setting')
    .action(async (name: string) => {
      const { printer, config } = await open()
      const key = configKey(name)
      const value = config.values[key]
      if (value === undefined && !printer.isJson) {
        throw new Failure('not_found', `${key} is not set.`, {
          hint: `To set it: shoal config set ${key} <value>`,
        })
      }
      await printer.answer({ [key]: value ?? null }, () => value ?? '')
    })

  config
    .command('set <key> <value>')
    .description('change a setting; an empty value resets it to its default')
    .action(async (name: string, value: string) => {
      const { printer, places } = await open()
      const key = configKey(name)
      await setConfig(places, key, value)
      printer.success(value === '' ? `Removed ${key}.` : `Set ${key}.`)
      await printer.answer({ [key]: value === '' ? null : value }, () => [])
    })

  config
    .command('ls')
    .description('list all settings')
    .action(async () => {
      const { printer, config } = await open()
      await printer.answer(config.values, () =>
        Object.entries(savedSettings).map(([key, one]) => {
          const value = config.values[key as ConfigKey]
          return value === undefined
            ? printer.out.dim(`# ${key}: ${formatHelp(one)}`)
            : `${key} = ${value}`
        }),
      )
    })

  return config
}
