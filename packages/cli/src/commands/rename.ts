import { isModelName } from '@shoal/core/references'
import { formatPath, pages } from '@shoal/protocol/pages'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { invalidModelName } from '../models/invalid-model-name.ts'
import { openModel } from '../models/open-model.ts'

export function renameCommand(open: OpenContext): Command {
  return new Command('rename')
    .description(
      'rename a published model and print its new URL; the old name redirects to the new one',
    )
    .argument('<model>', 'model name')
    .argument('<new-name>', 'new model name')
    .action(async (text: string, newName: string) => {
      if (!isModelName(newName)) throw invalidModelName(newName)
      const context = await open()
      const { printer } = context
      const { name, address, call } = await openModel(context, text)
      const renamed = await call((client) => client.updateModel(name, { name: newName }))
      const model = renamed ?? { name: newName }
      printer.success(`${name} is now ${model.name}.`)
      printer.note(`  ${name} redirects to ${model.name} until another model takes the name.`)
      const url = address + formatPath(pages.model, { name: model.name })
      await printer.answer({ model: model.name, former_name: name, url }, () => url)
    })
}
