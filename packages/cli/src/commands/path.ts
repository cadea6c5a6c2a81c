import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { formatChoiceName, getLocalChoice } from '../models/local-models.ts'

export function pathCommand(open: OpenContext): Command {
  return new Command('path')
    .description('print the path of a model on this machine')
    .argument('<model[:quant]>', 'model name, optionally with a quantization')
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
