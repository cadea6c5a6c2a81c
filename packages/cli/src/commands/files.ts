import { type FileChoice, findChoices } from '@shoal/model-file/choices'
import type { ModelFile } from '@shoal/protocol/client'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { listAllFiles, type OpenModel, openModel, openModelOrFile } from '../models/open-model.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { printList } from '../terminal/print-list.ts'
import type { Printer } from '../terminal/printer.ts'
import type { Column } from '../terminal/table.ts'
import { toTerminalLine } from '../terminal/terminal-text.ts'
import { formatBytes, plural } from '../terminal/units.ts'

/** Commands for the files of a published model. */
export function filesCommand(open: OpenContext): Command {
  const files = new Command('files').description('list or delete the files of a published model')

  files
    .command('ls')
    .description(
      'list the files of a model; its owner, its members and administrators also see files that are not ready',
    )
    .argument('<model>', 'model name')
    .action(async (text: string) => {
      const context = await open()
      const { printer } = context
      const model = await openModel(context, text)
      const choices = await listAllFiles(model)
      const all = choices.flatMap((choice) => choice.files.map((file) => ({ choice, file })))
      await printList(printer, all, {
        columns,
        none: `${model.name} has no files.`,
        document: all.map(({ file }) => file),
      })
    })

  files
    .command('rm')
    .description('delete files of a model from the registry, or cancel their uploads')
    .argument('<files...>', 'files, such as tide:Q4_K_M or tide:tide-Q4_K_M.gguf')
    .action(async (references: string[]) => {
      const context = await open()
      const { printer, asker } = context
      const found: Found[] = []
      for (const text of references) found.push(await findFile(context, text))
      const names = found.map(({ title }) => title).join(', ')
      const named = found.flatMap(({ model, choice }) =>
        choice.files.map((file) => ({ model, file })),
      )
      const files = [...new Map(named.map((one) => [one.file.id, one])).values()]
      const bytes = files.reduce((sum, { file }) => sum + file.file_size_bytes, 0)
      const labels = new Set(found.map(({ model }) => model.label))
      const question = `Delete ${names} from ${[...labels].join(', ')} (${plural(files.length, 'file')}, ${formatBytes(bytes)})?`
      await asker.confirm(question)
      await deleteEach(files, printer)
      printer.success(`Deleted ${names}.`)
      await printer.answer({ deleted: files.map(({ file }) => file.filename) }, () => [])
    })

  return files
}

type Found = { model: OpenModel; choice: FileChoice<ModelFile>; title: string }

/** If one of the files cannot be deleted, prints which files were deleted, and throws the error. */
async function deleteEach(files: { model: OpenModel; file: ModelFile }[], printer: Printer) {
  for (const [index, { model, file }] of files.entries()) {
    try {
      await model.call((client) => client.deleteFile(model.name, file.id))
    } catch (error) {
      const listed = (some: typeof files) =>
        some.map((one) => `${one.model.name}:${one.file.filename}`).join(', ')
      const deleted = listed(files.slice(0, index)) || 'none'
      printer.note(`Deleted: ${deleted}. Not deleted: ${listed(files.slice(index))}.`)
      throw error
    }
  }
}

async function findFile(context: Context, text: string): Promise<Found> {
  const { quantization, ...model } = await openModelOrFile(context, text)
  const { name } = model
  if (quantization === undefined) {
    throw misuse(
      `“${text}” does not name a file.`,
      `To delete a file: shoal files rm ${name}:QUANTIZATION. To delete the model: shoal delete ${name}.`,
    )
  }
  const choices = await listAllFiles(model)
  const found = findChoices(choices, quantization)
  const [choice] = found
  const labels = (found.length > 1 ? found : choices).map(({ label }) => label)
  if (choice && found.length === 1) return { model, choice, title: `${name}:${choice.label}` }
  const message = choice
    ? `${name} has several ${quantization} files.`
    : `${name} has no ${quantization} file.`
  throw new Failure('not_found', message, {
    hint:
      labels.length > 0
        ? `Available: ${labels.map(toTerminalLine).join(', ')}.`
        : 'The model has no files.',
    details: { files: labels },
  })
}

const columns: Column<{ choice: FileChoice<ModelFile>; file: ModelFile }>[] = [
  { title: 'NAME', text: ({ choice }) => choice.label },
  { title: 'SIZE', text: ({ file }) => formatBytes(file.file_size_bytes), align: 'right' },
  { title: 'STATUS', text: ({ file }) => file.status },
  { title: 'FILENAME', text: ({ file }) => file.filename },
]
