import { formatHelp } from '@shoal/core/settings'
import type { Unreadable } from '@shoal/transfer'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { type ConfigKey, configKey, readConfig, setConfig } from '../settings/config.ts'
import { readModelFolders } from '../settings/model-folders.ts'
import { savedSettings } from '../settings/settings.ts'
import { Failure } from '../terminal/failure.ts'
import { plural } from '../terminal/units.ts'
import { whileWaiting } from '../terminal/waiting.ts'

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
      const context = await open()
      const { printer, places } = context
      const key = configKey(name)
      await setConfig(places, key, value)
      printer.success(value === '' ? `Removed ${key}.` : `Set ${key}.`)
      if (key === 'model-folders') await searchFolders(context)
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

/** Searches the read-only model folders, and forgets the models in folders that were removed from the setting. */
async function searchFolders({ printer, places, environment: { env } }: Context) {
  const { listModelFiles } = await import('@shoal/transfer')
  const folders = readModelFolders(env, await readConfig(places))
  const options = { modelsDirectory: places.models, folders, areOthersForgotten: true }
  const skipped = new Set<string>()
  const skip = ({ path, why }: Unreadable) => {
    skipped.add(path)
    printer.warn(`Skipped ${path}: ${why}.`)
  }
  const files = await whileWaiting(printer, 'Searching the model folders', () =>
    listModelFiles(options, skip),
  )
  for (const folder of folders.filter((one) => !skipped.has(one))) {
    const found = files.filter(({ imported, isMissing }) => {
      return imported?.folder === folder && !isMissing
    })
    printer.note(`  ${folder}: ${plural(found.length, 'file')}`)
  }
}
