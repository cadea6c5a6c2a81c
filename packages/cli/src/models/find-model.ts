import { type FileChoice, fileChoices } from '@shoal/model-file/choices'
import { ApiError, type Model, type ModelFile, type ModelRecord } from '@shoal/protocol/client'
import { distance } from 'fastest-levenshtein'
import type { Context, Registry } from '../context.ts'
import { Failure } from '../terminal/failure.ts'
import { toTerminalLine } from '../terminal/terminal-text.ts'
import { type Reference, readReference } from './reference.ts'

export type FoundModel = {
  reference: Reference
  registry: Registry
  model: ModelRecord
  choices: FileChoice<ModelFile>[]
}

/**
 * Returns the model that a reference refers to, with its files. If the model does not exist, the error suggests similar
 * names.
 */
export async function getModelWithFiles(context: Context, text: string): Promise<FoundModel> {
  const reference = readReference(text)
  const registry = await context.openRegistry(reference.registry)
  const model = await namingNeighbours(registry, reference.name, () =>
    registry.client.getModel(reference.name),
  )
  if (![model.name, model.id].includes(reference.name)) {
    context.printer.note(`  ${reference.name} was renamed to ${model.name}.`)
  }
  const files = await registry.client.listFiles(model.name)
  return { reference, registry, model, choices: fileChoices(files, (file) => file.file_size_bytes) }
}

/** Runs `call`. If the model does not exist, the error suggests similar names. */
export async function namingNeighbours<T>(
  registry: Registry,
  name: string,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem.code !== 'model_unknown') throw error
    throw await unknownModel(registry, name, error)
  }
}

async function unknownModel(registry: Registry, name: string, cause: ApiError): Promise<Failure> {
  const near = await nearNames(registry, name)
  const hints = [
    near.length > 0
      ? `Did you mean ${near.map(toTerminalLine).join(', ')}?`
      : `To find models: shoal search`,
    ...(near.length === 0 && !registry.token
      ? ['If the model is private, run shoal login first.']
      : []),
  ]
  return new Failure('not_found', `No model called “${name}” on ${registry.label}.`, {
    hint: hints.join('\n'),
    details: { did_you_mean: near },
    cause,
  })
}

async function nearNames({ client }: Registry, name: string): Promise<string[]> {
  const words = name.replace(/[._-]+/g, ' ')
  const [alike, popular] = await Promise.all([
    client.listModels({ q: words, sort: 'relevance', limit: 50 }),
    client.listModels({ limit: 200 }),
  ])
  const names = new Set([...alike.models, ...popular.models].map((model: Model) => model.name))
  const maxEdits = Math.max(2, Math.ceil(name.length / 4))
  return [...names]
    .map((other) => ({ other, edits: distance(name, other) }))
    .filter(({ other, edits }) => edits <= maxEdits || other.startsWith(name))
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ other }) => other)
}
