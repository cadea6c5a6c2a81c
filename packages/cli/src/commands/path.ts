import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { formatChoiceName, getLocalChoice } from '../models/local-models.ts'

export function pathCommand(open: OpenContext): Command {
  return new Command('path')
    .description('where a model lies on this machine')
    .argument('<model[:quant]>', 'its name')
    .action(async (reference: string) => {
      const context = await open()
      const choice = await getLocalChoice(context, reference)
      const [{ path }] = choice.files
      context.printer.detail(`  ${formatChoiceName(choice)}`)
      await context.printer.answer(
        { model: choice.modelName, quantization: choice.label, path },
        () => path,
      )
    })
}
