import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { findDaemonClient } from '../daemon/find-daemon.ts'
import { type InferenceOption, inferenceOption } from '../daemon/inference-option.ts'
import { parseModelId } from '../models/reference.ts'

export function unloadCommand(open: OpenContext): Command {
  return new Command('unload')
    .description('unload a model from memory')
    .argument('<model[:quant]>', 'model name, optionally with a quantization')
    .addOption(inferenceOption())
    .action(async (reference: string, { inference }: InferenceOption) => {
      const context = await open()
      const { printer } = context
      const model = parseModelId(reference)
      const client = await findDaemonClient(context, inference)
      const answer = await client.unload(model)
      if (answer.unloaded) printer.success(`${model} is unloaded.`)
      else printer.note(`${model} was not loaded.`)
      await printer.answer(answer, () => [])
    })
}
