import { Command, Option } from 'commander'
import type { OpenContext } from '../context.ts'
import { findDaemonClient } from '../daemon/find-daemon.ts'
import { type InferenceOption, inferenceOption } from '../daemon/inference-option.ts'
import { formatLoadedTitle } from '../daemon/loaded-title.ts'
import { parseModelId } from '../models/reference.ts'
import { formatBytes, parseKeepTime } from '../terminal/units.ts'
import { whileWaiting } from '../terminal/waiting.ts'

type LoadOptions = InferenceOption & { keep?: string | number }

export function loadCommand(open: OpenContext): Command {
  return new Command('load')
    .description('load a local model into the running daemon')
    .argument('<model[:quant]>', 'model name, optionally with a quantization')
    .addOption(
      new Option(
        '--keep <time>',
        'how long the model stays loaded while it is idle: a duration such as 5m or 2h, or “forever”',
      ).argParser(parseKeepTime),
    )
    .addOption(inferenceOption())
    .action(async (reference: string, { keep, inference }: LoadOptions) => {
      const context = await open()
      const { printer } = context
      const model = parseModelId(reference)
      const client = await findDaemonClient(context, inference)
      const options = keep === undefined ? {} : { keepAlive: keep }
      const loaded = await whileWaiting(printer, `Loading ${model}`, () =>
        client.load(model, options),
      )
      const memory = formatBytes(loaded.memory_bytes)
      printer.success(`${formatLoadedTitle(loaded)} is loaded and uses ${memory} of memory.`)
      await printer.answer(loaded, () => [])
    })
}
