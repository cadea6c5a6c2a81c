import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { getLocalChoices, nameOf } from '../models/local-models.ts'
import { formatBytes } from '../terminal/units.ts'

export function removeCommand(open: OpenContext): Command {
  return new Command('rm')
    .description('delete a model from this machine')
    .argument('<models...>', 'names; without a quantization all files of the model')
    .action(async (references: string[]) => {
      const context = await open()
      const { printer, asker } = context
      const found = await Promise.all(references.map((one) => getLocalChoices(context, one)))
      const choices = [...new Map(found.flat().map((one) => [nameOf(one), one])).values()]
      const names = choices.map(nameOf).join(', ')
      const size = formatBytes(choices.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0))
      await asker.confirm(`Delete ${names} (${size}) from this machine?`)

      const { removeLocalFile } = await import('@shoal/transfer')
      let freedBytes = 0
      for (const { path } of choices.flatMap(({ files }) => files)) {
        freedBytes += (await removeLocalFile(path)).freedBytes
      }
      printer.success(`Deleted ${names}. ${formatBytes(freedBytes)} are free again.`)
      await printer.answer({ removed: choices.map(nameOf), freed_bytes: freedBytes }, () => [])
    })
}
