import type { InferenceClient } from '@shoal/protocol/inference-client'
import type { Context } from '../context.ts'
import { parseModelId } from '../models/reference.ts'
import { Failure } from '../terminal/failure.ts'
import { toTerminalLine } from '../terminal/terminal-text.ts'
import { whileWaiting } from '../terminal/waiting.ts'
import { preparePull, runPull } from '../transfers/pull-model.ts'

/** A loaded model. */
export type ReadyModel = {
  /** The daemon's ID for the model. */
  id: string
  quantization: string
  contextLength: number
  /** How long loading took; almost zero if the model was already loaded. */
  loadSeconds: number
}

/** Loads a model, and downloads it first if the daemon does not have it. */
export async function readyModel(
  context: Context,
  client: InferenceClient,
  reference: string,
): Promise<ReadyModel> {
  const { printer } = context
  const asked = parseModelId(reference)
  const id = (await client.hasModel(asked)) ? asked : await fetchModel(context, client, reference)
  const signal = context.takeStopSignal()
  signal.throwIfAborted()
  const startedAt = performance.now()
  const loaded = await whileWaiting(printer, `Loading ${id}`, () => client.load(id, { signal }))
  return {
    id,
    quantization: toTerminalLine(loaded.details?.quantization_level ?? ''),
    contextLength: loaded.context_length,
    loadSeconds: (performance.now() - startedAt) / 1000,
  }
}

/**
 * Downloads a model, and returns its ID. The ID contains the model's current name, even if the reference contains a
 * former name.
 */
async function fetchModel(context: Context, client: InferenceClient, reference: string) {
  const { printer, places } = context
  printer.note(`  ${reference} is not on this machine. Downloading it:`)
  const pull = await preparePull(context, reference)
  await runPull(context, pull)
  const [, tag] = parseModelId(reference).split(':')
  const id = tag === undefined ? pull.modelName : `${pull.modelName}:${tag}`
  if (await client.hasModel(id)) return id
  throw new Failure('not_found', `The daemon at ${client.url} does not have ${reference}.`, {
    hint: `The model was downloaded to ${places.models}, but that daemon uses a different models folder or runs on another machine.`,
  })
}
