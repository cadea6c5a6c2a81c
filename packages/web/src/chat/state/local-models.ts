/** The installed models that the chat page can use. */
import type { InferenceClient, ListedModel } from '@shoal/protocol/inference-client'

export type LocalModel = {
  id: string
  isLoaded: boolean
  quantization: string
  parameters: number | null
  sizeBytes: number
}

/**
 * Lists the models that support chat. Loaded models come before the others. In both groups, the most recently changed
 * models come first.
 */
export async function listLocalModels(daemon: InferenceClient): Promise<LocalModel[]> {
  const [listed, loaded] = await Promise.all([daemon.listModels(), daemon.listLoaded()])
  const loadedIds = new Set(loaded.map(toId))
  return listed
    .filter(({ capabilities }) => capabilities?.includes('completion'))
    .map((model) => toLocalModel(model, loadedIds))
    .toSorted((a, b) => Number(b.isLoaded) - Number(a.isLoaded))
}

/** Removes the tag `:latest`, which Ollama clients expect but this page does not show. */
const toId = ({ name }: { name: string }) => name.replace(/:latest$/, '')

function toLocalModel(model: ListedModel, loadedIds: ReadonlySet<string>): LocalModel {
  const id = toId(model)
  const { parameter_size, quantization_level } = model.details
  return {
    id,
    isLoaded: loadedIds.has(id),
    quantization: quantization_level,
    parameters: parseParameters(parameter_size),
    sizeBytes: model.size,
  }
}

const units: Record<string, number> = { B: 1e9, M: 1e6, K: 1e3, '': 1 }

/** Parses a parameter count such as `8.0B`. */
function parseParameters(text: string): number | null {
  const [, number, unit = ''] = /^([\d.]+)([BMK]?)$/.exec(text) ?? []
  return number === undefined ? null : Number(number) * (units[unit] ?? 1)
}
