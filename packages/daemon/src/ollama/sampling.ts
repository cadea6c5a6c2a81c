import type { OllamaOptions } from '@shoal/protocol'
import { chooseSeed } from '../http/sampling.ts'
import type { Generation, Sampling } from '../runtime/runtime.ts'

/** Ollama's defaults. */
const defaults = { temperature: 0.8, topK: 40, topP: 0.9, minP: 0, repeatPenalty: 1.1 }
const defaultRepeatLastTokens = 64

export function toSampling(options: OllamaOptions): Sampling {
  const { seed, repeat_last_n: last } = options
  const hasPenalties = last !== 0
  return {
    temperature: options.temperature ?? defaults.temperature,
    topK: Math.max(0, options.top_k ?? defaults.topK),
    topP: options.top_p ?? defaults.topP,
    minP: options.min_p ?? defaults.minP,
    seed: chooseSeed(seed),
    repeatPenalty: hasPenalties ? (options.repeat_penalty ?? defaults.repeatPenalty) : 1,
    presencePenalty: hasPenalties ? (options.presence_penalty ?? 0) : 0,
    frequencyPenalty: hasPenalties ? (options.frequency_penalty ?? 0) : 0,
    repeatLastTokens: last === -1 ? Number.POSITIVE_INFINITY : (last ?? defaultRepeatLastTokens),
    logitBias: [],
  }
}

/** The conditions that end an answer. If `num_predict` is below 1, the number of tokens is not limited. */
export function getStopConditions({
  num_predict,
  stop,
}: OllamaOptions): Pick<Generation, 'maxTokens' | 'stop'> {
  const maxTokens = num_predict ?? 0
  return { maxTokens: maxTokens > 0 ? maxTokens : undefined, stop: [stop ?? []].flat() }
}
