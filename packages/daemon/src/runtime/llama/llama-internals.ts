import { readFileSync } from 'node:fs'
import nodeModule from 'node:module'
import type { LlamaContext, Token, TokenBias } from 'node-llama-cpp'

/*
 * The private members of node-llama-cpp that shoal uses. An update may remove these members, so the library is pinned
 * to one version.
 */
type TokenBiasInternals = { _biases: Map<Token, number> }
type ContextInternals = { _ctx: NativeContext; _llama: { _bindings: { AddonSampler: Samplers } } }
type NativeContext = {
  sampleToken: (index: number, sampler: NativeSampler, ...wants: boolean[]) => Promise<unknown>
}
type NativeSampler = { applyConfig(config: object): unknown; dispose(): void }
type Samplers = new (model: object) => NativeSampler

/**
 * Returns the map of the values that are added to the logits, by token. The library's `set` skips end-of-generation
 * tokens, but a client may forbid those tokens too.
 * @throws an error that names the missing member and the library's version
 */
export function getBiases(bias: TokenBias): Map<Token, number> {
  const { _biases: biases } = bias as unknown as Partial<TokenBiasInternals>
  if (biases instanceof Map) return biases
  throw isMissing('TokenBias._biases')
}

/**
 * Changes what `evaluateWithMetadata` yields in this context if both `probabilities` and `confidence` are requested. The
 * library would yield the probability of the generated token as the confidence; now, it is the probability of the most
 * likely token in the whole vocabulary, before the filters (top-k, top-p, min-p, XTC, temperature, grammar). The
 * probabilities, which are relative to the tokens that remain after the filters, can then be made absolute. Otherwise,
 * this would need the probabilities of all tokens, and copying those of 150,000 tokens takes longer than to generate
 * one.
 * @throws an error that names a missing member and the library's version
 */
export function yieldTopProbability(context: LlamaContext): void {
  const { _ctx: native, _llama: llama } = context as unknown as Partial<ContextInternals>
  if (!native?.sampleToken) throw isMissing('LlamaContext._ctx.sampleToken')
  const bindings = llama?._bindings
  if (!bindings?.AddonSampler) throw isMissing('LlamaContext._llama._bindings.AddonSampler')
  // Models in one process share the bindings.
  if (!('hasUnfiltered' in bindings.AddonSampler)) {
    bindings.AddonSampler = withUnfiltered(bindings.AddonSampler)
  }
  const sample = native.sampleToken.bind(native)
  const sampleToken: NativeContext['sampleToken'] = async (index, sampler, ...wants) => {
    if (!wants.every(Boolean) || wants.length < 2) return sample(index, sampler, ...wants)
    const [token, probabilities] = (await sample(index, sampler, true, false)) as unknown[]
    const { unfiltered } = sampler as InstanceType<ReturnType<typeof withUnfiltered>>
    const [, , confidence] = (await sample(index, unfiltered(), false, true)) as unknown[]
    return [token, probabilities, confidence]
  }
  Object.defineProperty(native, 'sampleToken', { value: sampleToken })
}

const withUnfiltered = (Sampler: Samplers) =>
  class extends Sampler {
    static readonly hasUnfiltered = true
    readonly #model: object
    #config = {}
    #unfiltered: NativeSampler | undefined

    constructor(model: object) {
      super(model)
      this.#model = model
    }

    override applyConfig(config: object) {
      this.#config = config
      return super.applyConfig(config)
    }

    /** A sampler with the same biases and penalties that chooses the most likely token. */
    readonly unfiltered = (): NativeSampler => {
      this.#unfiltered ??= new Sampler(this.#model)
      const filters = { xtcProbability: undefined, grammarEvaluationState: undefined }
      const config = Object.entries({ ...this.#config, ...filters, temperature: 0 })
      this.#unfiltered.applyConfig(
        Object.fromEntries(config.filter(([, value]) => value !== undefined)),
      )
      return this.#unfiltered
    }

    override dispose() {
      this.#unfiltered?.dispose()
      super.dispose()
    }
  }

function isMissing(member: string): Error {
  // Node versions before 22.14 lack this function, so it cannot be imported by name.
  const manifest = nodeModule.findPackageJSON?.('node-llama-cpp', import.meta.url)
  const version = manifest ? JSON.parse(readFileSync(manifest, 'utf8')).version : ''
  return new Error(`${member} is missing from node-llama-cpp ${version}: run npm ci`)
}
