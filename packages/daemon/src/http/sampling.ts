import { randomInt } from 'node:crypto'
import type { ChatRequest, samplingFields } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import type { Generation, Sampling } from '../runtime/runtime.ts'

/** The defaults of llama.cpp's own server. Without these defaults, small models ramble. */
export const samplingDefaults = { temperature: 0.8, topP: 0.95, topK: 40, minP: 0.05 }

type SamplingRequest = Partial<Pick<ChatRequest, keyof typeof samplingFields>>

/** The default of llama.cpp's server, like the defaults of DRY and XTC below. */
const defaultRepeatLastTokens = 64

/**
 * Reads the sampling parameters that OpenAI's and Anthropic's APIs have in common, and those that only OpenAI's API,
 * llama.cpp's server and vLLM have.
 */
export function toSampling(given: SamplingRequest): Sampling {
  const request = { ...given, ...turnedOff(given.samplers) }
  const { ignore_eos, min_tokens, xtc_probability } = request
  return {
    temperature: request.temperature ?? samplingDefaults.temperature,
    topP: request.top_p ?? samplingDefaults.topP,
    topK: Math.max(0, request.top_k ?? samplingDefaults.topK),
    minP: request.min_p ?? samplingDefaults.minP,
    seed: chooseSeed(request.seed),
    ...toPenalties(request),
    minTokens: ignore_eos ? Number.POSITIVE_INFINITY : (min_tokens ?? 0),
    ...(xtc_probability && {
      xtc: { probability: xtc_probability, threshold: request.xtc_threshold ?? 0.1 },
    }),
    ...toDry(request),
    logitBias: Object.entries(request.logit_bias ?? {}).map(([token, bias]) => {
      if (/^\d{1,9}$/.test(token)) return [Number(token), bias]
      const message = `logit_bias contains ${token}, which is not a token ID`
      throw new Fault(422, message, { param: 'logit_bias' })
    }),
  }
}

/**
 * The samplers of llama.cpp's server in their default order, each with the parameters that turn it off. The library has
 * the same order, and lacks those that are off by default.
 */
const samplers: [name: string, off: SamplingRequest][] = [
  [
    'penalties',
    { repeat_penalty: 1, repetition_penalty: 1, presence_penalty: 0, frequency_penalty: 0 },
  ],
  ['dry', { dry_multiplier: 0 }],
  ['top_n_sigma', {}],
  ['top_k', { top_k: 0 }],
  ['typ_p', {}],
  ['top_p', { top_p: 1 }],
  ['min_p', { min_p: 0 }],
  ['xtc', { xtc_probability: 0 }],
  ['temperature', { temperature: 1 }],
]

/** Returns the parameters that turn off all samplers that a request does not list. */
function turnedOff(wanted: SamplingRequest['samplers']): SamplingRequest {
  if (!wanted) return {}
  const inOrder = samplers.flatMap(([name]) => (wanted.includes(name) ? [name] : []))
  if (inOrder.join() !== wanted.join()) {
    const names = samplers.map(([name]) => name).join(', ')
    throw unsupported('samplers', `must be some of ${names}, in this order`)
  }
  const others = samplers.filter(([name]) => !wanted.includes(name))
  return Object.assign({}, ...others.map(([, off]) => off))
}

/**
 * The penalties of OpenAI's API apply to the tokens of the answer. If a request has one of llama.cpp's or vLLM's
 * penalties, all penalties apply to the tokens that those servers consider.
 */
function toPenalties(request: SamplingRequest) {
  const { repeat_penalty, repetition_penalty, repeat_last_n: last } = request
  const all = last === -1 || (repetition_penalty && !repeat_penalty && !last)
  const isOwnWindow = Boolean(repeat_penalty) || (last !== null && last !== undefined)
  const isOff = last === 0
  return {
    presencePenalty: isOff ? 0 : (request.presence_penalty ?? 0),
    frequencyPenalty: isOff ? 0 : (request.frequency_penalty ?? 0),
    repeatPenalty: isOff ? 1 : (repeat_penalty ?? repetition_penalty ?? 1),
    repeatLastTokens: all
      ? Number.POSITIVE_INFINITY
      : isOwnWindow
        ? (last ?? defaultRepeatLastTokens)
        : undefined,
  }
}

function toDry(request: SamplingRequest): Pick<Sampling, 'dry'> {
  const { dry_multiplier: multiplier, dry_penalty_last_n: last } = request
  if (!multiplier || last === 0) return {}
  return {
    dry: {
      multiplier,
      base: request.dry_base ?? 1.75,
      allowedLength: request.dry_allowed_length ?? 2,
      lastTokens: last === -1 ? Number.POSITIVE_INFINITY : (last ?? Number.POSITIVE_INFINITY),
      sequenceBreakers: request.dry_sequence_breakers ?? ['\n', ':', '"', '*'],
    },
  }
}

/** Returns the generation. Throws a `Fault` if its parameters cannot be combined. */
export function checkSampling(generation: Generation): Generation {
  const { sampling, topLogprobs } = generation
  // For log probabilities, `ownSampler` chooses the tokens, but the library's DRY sampler sees only its own choices.
  if (!sampling.dry || topLogprobs === undefined) return generation
  const param = 'dry_multiplier'
  throw new Fault(400, `${param} cannot be combined with log probabilities`, { param })
}

/**
 * Returns the seed of an answer. If the request has no seed, or -1 as in llama.cpp's server, vLLM and Ollama, draws one
 * at random. (The library would use the time in seconds.)
 */
export const chooseSeed = (seed: number | null | undefined): number =>
  seed === undefined || seed === null || seed === -1 ? randomInt(2 ** 32 - 1) : seed % 2 ** 52 // other answers to the request have the next seeds, which must be exact
