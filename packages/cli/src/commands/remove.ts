import { basename, dirname } from 'node:path'
import { hasCode } from '@shoal/core/errors'
import { shellWord } from '@shoal/core/references'
import type { Removal } from '@shoal/transfer'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { formatChoiceName, getLocalChoices, type LocalChoice } from '../models/local-models.ts'
import { Failure } from '../terminal/failure.ts'
import { formatBytes, shortList } from '../terminal/units.ts'

export function removeCommand(open: OpenContext): Command {
  return new Command('rm')
    .description('delete models from this machine')
    .argument(
      '<models...>',
      'model names; a name without a quantization means all files of that model',
    )
    .action(async (references: string[]) => {
      const context = await open()
      const { printer, asker, places } = context
      const found = await Promise.all(references.map((one) => getLocalChoices(context, one)))
      const choices = [...new Map(found.flat().map((one) => [formatChoiceName(one), one])).values()]
      refuseFollowed(context, choices)
      const names = choices.map(formatChoiceName).join(', ')
      const isForgotten = choices.every(isReference)
      const paths = choices.flatMap(({ files }) => files.map(({ path }) => path))

      const fail = (error: unknown) => refuse(error, choices)
      const { previewRemoval, removeLocalFiles } = await import('@shoal/transfer')
      const planned = await previewRemoval(places.models, paths).catch(fail)
      const frees = `This frees ${formatBytes(planned.freedBytes)}.`
      if (!context.options.yes) reportKept(context, planned, 'will be kept')
      await asker.confirm(
        isForgotten ? `Forget ${names}?` : `Delete ${names} from this machine? ${frees}`,
      )

      const removal = await removeLocalFiles(places.models, paths).catch(fail)
      const done = `Deleted ${names}. ${formatBytes(removal.freedBytes)} freed.`
      printer.success(isForgotten ? `Forgot ${names}.` : done)
      reportKept(context, removal, 'were kept')
      await printer.answer(toDocument(choices.map(formatChoiceName), removal), () => [])
    })
}

/** Throws if a model is in a read-only model folder, because the model would be listed again immediately. */
function refuseFollowed({ modelFolders }: Context, choices: readonly LocalChoice[]) {
  for (const choice of choices) {
    const found = choice.files.find(({ isMissing }) => !isMissing)?.imported
    if (found?.folder === undefined || !modelFolders.includes(found.folder)) continue
    const { folder, from } = found
    throw new Failure(
      'failed',
      `${formatChoiceName(choice)} is in ${folder}, which is read-only.`,
      {
        hint: `Nothing was deleted. To remove the model from the list, delete ${from} yourself, or remove the folder from the model-folders setting.`,
        details: { folder, path: from },
      },
    )
  }
}

/** Whether all files of a model are links, for example because they were imported by reference. */
const isReference = ({ files }: LocalChoice) => files.every(({ target }) => target !== undefined)

/** Reports linked files, hard-linked data and folders that remain after the models are deleted. */
function reportKept({ printer }: Context, removal: Removal, areKept: 'will be kept' | 'were kept') {
  for (const { path, target } of removal.links) {
    printer.note(`  ${path} is only a link. The contents of ${target} ${areKept}.`)
  }
  for (const path of removal.hardLinked) {
    printer.note(
      `  ${basename(path)} has other hard links, so its contents ${areKept} on the disk.`,
    )
  }
  for (const { path, names } of removal.keptFolders) {
    printer.note(`  Kept: ${path}, which also contains ${shortList(names)}.`)
  }
}

function refuse(error: unknown, choices: readonly LocalChoice[]): never {
  if (hasCode(error, 'file_busy')) {
    throw new Failure('failed', `${error.details.path} is being downloaded or copied.`, {
      hint: 'Nothing was deleted. Try again when the other command has finished.',
      cause: error,
    })
  }
  if (!hasCode(error, 'is_link')) throw error
  const { path: link, target } = error.details
  const linked = choices.find(({ files }) => files.some(({ path }) => dirname(path) === link))
  const reason = `${link} is a link to ${target}, which also contains other files.`
  throw new Failure('failed', `The file cannot be deleted separately: ${reason}`, {
    hint: `To delete the link, delete the whole model: shoal rm ${shellWord(linked?.modelName ?? basename(link))}`,
    cause: error,
  })
}

const toDocument = (removed: string[], removal: Removal) => ({
  removed,
  freed_bytes: removal.freedBytes,
  removed_links: removal.links,
  hard_linked: removal.hardLinked,
  kept_folders: removal.keptFolders,
})
