import { getLlama, LlamaLogLevel } from 'node-llama-cpp'
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
  const { tokenizeBeginning } = tokenizer(model, () => undefined, lengths)
  return {
    tokenizeBeginning: (text: string, maxTokens: number) =>
      tokenizeBeginning({ text, addSpecial: false, parseSpecial: true }, maxTokens),
    tokenizeInBlocks: async (text: string) =>
      (await tokenizeBeginning({ text, addSpecial: false, parseSpecial: true })).tokens,
    tokenizeAtOnce: (text: string) => model.tokenize(text, true),
    async [Symbol.asyncDispose]() {
      await model.dispose()
      await llama.dispose()
    },
  }
}
