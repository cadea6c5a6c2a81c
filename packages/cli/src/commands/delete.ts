import { shellWord } from '@shoal/core/references'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { openModelOrFile } from '../models/open-model.ts'
import { misuse } from '../terminal/failure.ts'
import { formatBytes, plural } from '../terminal/units.ts'

export function deleteCommand(open: OpenContext): Command {
  return new Command('delete')
    .description('delete a model and all of its files from the registry')
    .argument('<model>', 'model name')
    .action(async (text: string) => {
      const context = await open()
      const { printer, asker } = context
      const { name, quantization, label, call } = await openModelOrFile(context, text)
      if (quantization !== undefined) {
        throw misuse(
          `“${text}” names a file.`,
          `To delete the file: shoal files rm ${shellWord(text)}. To delete the model: shoal delete ${shellWord(name)}.`,
        )
      }
      const model = await call((client) => client.getModel(name))
      const files = plural(model.files_count, 'file')
      const size = formatBytes(model.total_size_bytes)
      await asker.confirm(
        `Delete ${model.name} by ${model.owner} and its ${files} (${size}) from ${label}?`,
      )
      await call((client) => client.deleteModel(model.id))
      printer.success(`Deleted ${model.name} from ${label}.`)
      printer.note('  Copies on other machines are not affected.')
      await printer.answer({ deleted: model.name, registry: label }, () => [])
    })
}
