import type { ChatRequest } from '@shoal/protocol'
import { Fault } from '../errors.ts'
import type { Sampling } from '../runtime/runtime.ts'

/** The defaults of llama.cpp's own server. Without these defaults, small models ramble. */
export const samplingDefaults = { temperature: 0.8, topP: 0.95, topK: 40, minP: 0.05 }

type SamplingRequest = Partial<
  Pick<
    ChatRequest,
    | 'temperature'
    | 'top_p'
    | 'top_k'
    | 'min_p'
    | 'seed'
    | 'presence_penalty'
    | 'frequency_penalty'
    | 'logit_bias'
  >
>

/**
 * Reads the sampling parameters that OpenAI's and Anthropic's APIs have in common, and those that only OpenAI's API
 * has.
 */
export function toSampling(request: SamplingRequest): Sampling {
  return {
    temperature: request.temperature ?? samplingDefaults.temperature,
    topP: request.top_p ?? samplingDefaults.topP,
    topK: request.top_k ?? samplingDefaults.topK,
    minP: request.min_p ?? samplingDefaults.minP,
    seed: request.seed ?? undefined,
    presencePenalty: request.presence_penalty ?? 0,
    frequencyPenalty: request.frequency_penalty ?? 0,
    repeatPenalty: 1,
    repeatLastTokens: undefined,
    logitBias: Object.entries(request.logit_bias ?? {}).map(([token, bias]) => {
      if (/^\d{1,9}$/.test(token)) return [Number(token), bias]
      const message = `logit_bias contains ${token}, which is not a token ID`
      throw new Fault(422, message, { param: 'logit_bias' })
    }),
  }
}
