import type { ModelChanges } from '@shoal/protocol'
import { formatPath, pages } from '@shoal/protocol/pages'
import { Command, Option } from 'commander'
import type { OpenContext } from '../context.ts'
import { openModel } from '../models/open-model.ts'
import { editText } from '../terminal/edit-text.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { readText } from '../terminal/read-text.ts'
import { repeatable } from '../terminal/repeatable.ts'

type EditOptions = {
  displayName?: string
  description?: string
  license?: string
  tag?: string[]
  /** False for `--no-tags`. */
  tags: boolean
  card?: string
  public?: boolean
  private?: boolean
}

export function editCommand(open: OpenContext): Command {
  return new Command('edit')
    .description("change a published model's details; without options, edit its card in $EDITOR")
    .argument('<model>', 'model name')
    .option('--display-name <text>', 'title of the model; "" resets it to the model name')
    .option('--description <text>', 'description of the model, in one sentence; "" removes it')
    .option('--license <license>', 'license of the model, such as apache-2.0; "" removes it')
    .addOption(repeatable('--tag <tag>', 'tag to set in place of the current tags; repeatable'))
    .addOption(new Option('--no-tags', 'remove all tags').conflicts('tag'))
    .option('--card <file>', 'file with the new model card, in Markdown')
    .option('--public', 'make the model visible to everyone')
    .addOption(
      new Option(
        '--private',
        'make the model visible only to its owner, members and administrators',
      ).conflicts('public'),
    )
    .action(async (text: string, options: EditOptions) => {
      const context = await open()
      const { printer, asker, environment } = context
      const { name, address, call } = await openModel(context, text)
      const changes = await readChanges(name, options)
      if (Object.keys(changes).length === 0) {
        if (!asker.canAsk) {
          throw misuse(
            'Nothing to change.',
            'Pass at least one option. To list the options: shoal edit --help',
          )
        }
        const { readme } = await call((client) => client.getModel(name))
        const save = async (card: string) => {
          const now = await call((client) => client.getModel(name))
          if (now.readme !== readme) {
            throw new Failure('failed', `The card of ${name} was changed in the meantime.`)
          }
          await call((client) => client.updateModel(name, { readme: card }))
        }
        const isSaved = await editText(environment, { title: name, text: readme ?? '', save })
        if (!isSaved) {
          printer.note(`The card of ${name} is unchanged.`)
          return
        }
      } else {
        await call((client) => client.updateModel(name, changes))
      }
      printer.success(`Changed ${name}.`)
      const model = await call((client) => client.getModel(name))
      const url = address + formatPath(pages.model, { name: model.name })
      await printer.answer(model, () => url)
    })
}

/** Returns the fields that the options change. An empty string removes a field's value. */
async function readChanges(name: string, options: EditOptions): Promise<ModelChanges> {
  const { displayName, description, license, tag, tags, card } = options
  return {
    ...(displayName !== undefined && { display_name: displayName || name }),
    ...(description !== undefined && { description: description || null }),
    ...(license !== undefined && { license: license || null }),
    ...(tag && { tags: tag }),
    ...(!tags && { tags: [] }),
    ...(card !== undefined && { readme: await readText(card) }),
    ...(options.public && { is_public: true }),
    ...(options.private && { is_public: false }),
  }
}
