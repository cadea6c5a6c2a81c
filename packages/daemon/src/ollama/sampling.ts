import type { OllamaOptions } from '@shoal/protocol'
import { unsupported } from '../errors.ts'
import type { Generation, Sampling } from '../runtime/runtime.ts'

/** What Ollama takes where a request says nothing. */
const usual = { temperature: 0.8, topK: 40, topP: 0.9, minP: 0, repeatPenalty: 1.1 }
const usualRepeatLastTokens = 64
const noTypicalSampling = [0, 1]

export function samplingOf(options: OllamaOptions): Sampling {
  // Other options of Ollama that are not named here are about its machine, not the answer.
  const { typical_p = null } = options
  if (typical_p !== null && !noTypicalSampling.includes(typical_p)) {
    throw unsupported('options.typical_p')
  }
  const { seed, repeat_last_n: last } = options
  const hasPenalties = last !== 0
  return {
    temperature: options.temperature ?? usual.temperature,
    topK: Math.max(0, options.top_k ?? usual.topK),
    topP: options.top_p ?? usual.topP,
    minP: options.min_p ?? usual.minP,
    seed: seed === -1 ? undefined : (seed ?? undefined),
    repeatPenalty: hasPenalties ? (options.repeat_penalty ?? usual.repeatPenalty) : 1,
    presencePenalty: hasPenalties ? (options.presence_penalty ?? 0) : 0,
    frequencyPenalty: hasPenalties ? (options.frequency_penalty ?? 0) : 0,
    repeatLastTokens: last === -1 ? undefined : (last ?? usualRepeatLastTokens),
    logitBias: [],
  }
}

/** Where an answer ends. A number of tokens below 1 is no limit. */
export function endOf({
  num_predict,
  stop,
}: OllamaOptions): Pick<Generation, 'maxTokens' | 'stop'> {
  const most = num_predict ?? 0
  return { maxTokens: most > 0 ? most : undefined, stop: [stop ?? []].flat() }
}
