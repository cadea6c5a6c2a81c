import type { GgufRole } from '@shoal/model-file'
import { isOtherRole, otherRoles } from '@shoal/model-file/choices'
import type { ImportMethod } from '@shoal/transfer'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import {
  findRole,
  formatChoiceName,
  isComplete,
  type LocalChoice,
  listLocalChoices,
} from '../models/local-models.ts'
import { printList } from '../terminal/print-list.ts'
import type { Column } from '../terminal/table.ts'
import { formatAge, formatBytes } from '../terminal/units.ts'

export function listCommand(open: OpenContext): Command {
  return new Command('ls')
    .alias('list') // as in Ollama
    .description('list the models on this machine')
    .action(async () => {
      const context = await open()
      const { printer, places } = context
      const choices = await listLocalChoices(context, ({ path, why }) =>
        printer.warn(`Skipped ${path}: ${why}.`),
      )
      const listed = await Promise.all(
        choices.map(async (choice) => ({ ...choice, role: await findRole(choice) })),
      )
      await printList(printer, listed, {
        columns,
        none: `No models in ${places.models} yet. Download one with: shoal pull <model>`,
        document: listed.map(toDocument),
      })
    })
}

const bytesHere = ({ files }: LocalChoice) => files.reduce((sum, file) => sum + file.bytesHere, 0)
const modifiedAt = ({ files }: LocalChoice) => Math.max(...files.map((file) => +file.modifiedAt))

function percentHere(choice: LocalChoice): number {
  const isKnown = choice.files.every((file) => file.fileSizeBytes !== undefined)
  if (!isKnown || choice.sizeBytes === 0) return 0
  return Math.min(99, Math.floor((bytesHere(choice) / choice.sizeBytes) * 100))
}

type Listed = LocalChoice & { role: GgufRole | undefined }

const columns: Column<Listed>[] = [
  { title: 'MODEL', text: formatChoiceName },
  { title: 'SIZE', text: ({ sizeBytes }) => formatBytes(sizeBytes), align: 'right' },
  { title: 'CHANGED', text: (choice) => formatAge(modifiedAt(choice)) },
  {
    title: '',
    text: (choice) => describeState(choice).join(', '),
  },
]

/**
 * Returns notes about a model that is missing, incomplete, damaged, linked or imported, or about a file that is not a
 * model. Most models have none.
 */
function describeState(choice: Listed): string[] {
  const { files, role } = choice
  const imported = files.find((file) => file.imported)?.imported
  const target = files.find((file) => file.target)?.target
  const isDamaged = files.some((file) => file.imported?.mismatch && !file.isVerified)
  const missing = files.find(({ isMissing }) => isMissing)
  if (missing) return [`missing: ${missing.target ?? missing.imported?.from} no longer exists`]
  return [
    ...(isComplete(choice) ? [] : [`incomplete, ${percentHere(choice)}%`]),
    ...(role !== undefined && isOtherRole(role) ? [otherRoles[role]] : []),
    ...(isDamaged ? ['damaged'] : []),
    ...(target !== undefined && !imported ? [`link to ${target}`] : []),
    ...(imported ? [describeImport(imported)] : []),
  ]
}

const describeImport = ({ method, origin }: { method: ImportMethod; origin: string }) =>
  ({ reference: `from ${origin}`, link: `linked from ${origin}`, copy: `copied from ${origin}` })[
    method
  ]

function toDocument(choice: Listed) {
  const [{ imported, target }] = choice.files
  return {
    model: choice.modelName,
    quantization: choice.label,
    /** What the file is according to its header; null if the header cannot be read. */
    kind: choice.role ?? null,
    file_size_bytes: choice.sizeBytes,
    bytes_here: bytesHere(choice),
    finished: isComplete(choice),
    modified_at: new Date(modifiedAt(choice)).toISOString(),
    paths: choice.files.map(({ path }) => path),
    ...(target !== undefined && { target }),
    ...(imported && {
      imported: {
        method: imported.method,
        origin: imported.origin,
        license: imported.license,
        ...(imported.folder !== undefined && { folder: imported.folder }),
      },
    }),
    missing: choice.files.some(({ isMissing }) => isMissing),
    verified: choice.files.every(({ isVerified }) => isVerified),
  }
}
