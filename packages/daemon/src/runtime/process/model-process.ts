/** The process of one model, started by `child-runtime.ts`. It exits when its parent process exits. */
import { openRpc, parentProcessPort } from '@shoal/core/rpc'
import { openLlamaModel } from '../llama/llama-model.ts'
import type {
  ChatToRender,
  EmbedOptions,
  Generation,
  Prompt,
  RankOptions,
  RuntimeOptions,
  TextToTokenize,
} from '../runtime.ts'

let model: Awaited<ReturnType<typeof openLlamaModel>> | undefined

function loadedModel() {
  if (!model) throw new Error('no model is loaded')
  return model
}

type PairsToRank = RankOptions & { pairs: [query: string, document: string][] }

type TextsToEmbed = EmbedOptions & { texts: (string | number[])[] }

export type ModelMethods = typeof methods

const methods = {
  /** Loads the model and returns its facts. Must be called before the other methods. */
  async load(options: RuntimeOptions) {
    model = await openLlamaModel(options)
    return model.facts
  },
  generate: (generation: Generation, signal: AbortSignal) =>
    loadedModel().generate(generation, signal),
  embed: ({ texts, ...options }: TextsToEmbed, signal: AbortSignal) =>
    loadedModel().embed(texts, signal, options),
  rank: ({ pairs, ...options }: PairsToRank, signal: AbortSignal) =>
    loadedModel().rank(pairs, signal, options),
  countTokens: (prompt: Prompt) => loadedModel().countTokens(prompt),
  applyTemplate: (prompt: ChatToRender) => loadedModel().applyTemplate(prompt),
  tokenize: (text: TextToTokenize) => loadedModel().tokenize(text),
  tokenBytes: (tokens: number[]) => loadedModel().tokenBytes(tokens),
  freeCache: () => loadedModel().freeCache(),
  end: () => process.exit(0),
}
openRpc(parentProcessPort(process, { ignoresInterrupt: true }), methods)
