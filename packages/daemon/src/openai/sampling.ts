import type { ChatRequest } from '@shoal/protocol'
import { Fault } from '../errors.ts'
import { samplingDefaults } from '../http/sampling-defaults.ts'
import type { Sampling } from '../runtime/runtime.ts'

type SamplingRequest = Pick<
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
