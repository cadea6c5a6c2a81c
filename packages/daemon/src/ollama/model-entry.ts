/** Model entries in the format of Ollama's lists. */
import type { LoadedModel } from '../models/loaded-model.ts'
import type { LocalModel } from '../models/local-models.ts'
import { listCapabilities } from './capabilities.ts'

/**
 * The name of a model in Ollama's lists. Ollama clients such as Open WebUI append `:latest` to a name without a colon,
 * and then look for the result in the list.
 */
export const formatOllamaName = ({ id }: LocalModel) => (id.includes(':') ? id : `${id}:latest`)

export function toDetails({ facts, quantization, parameterCount }: LocalModel) {
  const { architecture, context_length, dimensions } = facts
  const family = architecture ?? ''
  return {
    parent_model: '',
    format: 'gguf',
    family,
    families: architecture === null ? [] : [architecture],
    parameter_size: parameterCount === null ? '' : parameterSize(parameterCount),
    quantization_level: quantization,
    ...(context_length !== null && { context_length }),
    ...(dimensions.embedding_length !== null && { embedding_length: dimensions.embedding_length }),
  }
}

/** An entry of `/api/tags`. */
export function listedModel(model: LocalModel) {
  const name = formatOllamaName(model)
  return {
    name,
    model: name,
    modified_at: model.modifiedAt.toISOString(),
    size: model.fileSizeBytes,
    digest: model.sha256 ?? '',
    details: toDetails(model),
    capabilities: listCapabilities(model),
  }
}

/** Ollama's value for a model that stays loaded forever: about 292 years, the longest duration in Go. */
const foreverMs = 2 ** 63 / 1e6

/** An entry of `/api/ps`. The members after `context_length` are not part of Ollama's API. */
export function loadedEntry(loaded: LoadedModel) {
  const { model, memoryBytes, contextLength, idleSince, keepAliveMs } = loaded
  const name = formatOllamaName(model)
  const now = Date.now()
  // While a model has requests, `expiresAt` is undefined. The entry then shows the time that would apply if the model
  // became idle now.
  const expiresAt = loaded.expiresAt ?? new Date(now + (keepAliveMs < 0 ? foreverMs : keepAliveMs))
  return {
    name,
    model: name,
    size: Math.round(memoryBytes),
    digest: model.sha256 ?? '',
    details: toDetails(model),
    expires_at: expiresAt.toISOString(),
    size_vram: 0,
    context_length: contextLength,
    file_size_bytes: model.fileSizeBytes,
    memory_bytes: Math.round(memoryBytes),
    requests: loaded.requests,
    loaded_at: loaded.loadedAt.toISOString(),
    ...(Object.keys(model.preset).length > 0 && { preset: model.preset }),
    idle_seconds: idleSince ? Math.round((now - idleSince.getTime()) / 1000) : null,
  }
}

const units: [number, string, number][] = [
  [1e9, 'B', 1],
  [1e6, 'M', 2],
  [1e3, 'K', 0],
]

/** Formats a number of weights like Ollama, with the same rounding: `8.0B`, `5.25M`. */
function parameterSize(count: number): string {
  const [size, unit, digits] = units.find(([one]) => count >= one) ?? [1, '', 0]
  return `${(count / size).toFixed(digits)}${unit}`
}
