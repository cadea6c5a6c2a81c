import { getLlama, LlamaLogLevel, type Token } from 'node-llama-cpp'
import { shield } from '../runtime/chat/jinja/shield.ts'
import { tokenizer } from '../runtime/llama/tokenizer.ts'

/** Short blocks, so that a text is split in many places. */
const lengths = { minSpecialBlock: 1024, maxBlock: 500, maxWord: 64 * 1024 }

/** Opens the vocabulary of a GGUF file, which need not contain weights. Disposing of the result releases its memory. */
export async function openVocabulary(modelPath: string) {
  const llama = await getLlama({
    build: 'never',
    skipDownload: true,
    gpu: false,
    logLevel: LlamaLogLevel.disabled, // with `vocabOnly`, the library complains about missing weights
    progressLogs: false,
  })
  const model = await llama.loadModel({ modelPath, vocabOnly: true })
  const { tokenizeBeginning, tokenizeChat } = tokenizer(model, () => undefined, { lengths })
  return {
    tokenizeBeginning: (text: string, maxTokens: number) =>
      tokenizeBeginning({ text, addSpecial: false, parseSpecial: true }, maxTokens),
    tokenizeInBlocks: async (text: string) =>
      (await tokenizeBeginning({ text, addSpecial: false, parseSpecial: true })).tokens,
    tokenizeAtOnce: (text: string) => model.tokenize(text, true),
    /** Tokenizes a value that contains the text of each control token. Returns the resulting control tokens. */
    async findForged() {
      const isControl = (token: Token) => model.getTokenAttributes(token).control
      const all = [...model.iterateAllTokens()].filter(isControl)
      const text = all.map((token) => model.detokenize([token], true)).join('')
      const { tokens } = await tokenizeChat(shield(text))
      return tokens.slice(tokens[0] === model.tokens.bos ? 1 : 0).filter(isControl)
    },
    async [Symbol.asyncDispose]() {
      await model.dispose()
      await llama.dispose()
    },
  }
}
