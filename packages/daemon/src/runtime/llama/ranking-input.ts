/** The input of a model that ranks documents: a query and a document, as llama.cpp's server combines them. */
import { type LlamaModel, LlamaVocabularyType, type Token } from 'node-llama-cpp'
import { textEnds } from './text-ends.ts'
import type { Tokenize } from './tokenizer.ts'

/**
 * The tokens of an input. `text` may be shortened at its end. If `isWhole` is false, `text` contains only the beginning
 * of a text that is too long.
 */
export type Input = { before: Token[]; text: Token[]; after: Token[]; isWhole: boolean }

/** Pre-tokenizers of vocabularies that separate two texts with an additional token, as in RoBERTa. */
const preTokenizersWithSeparator = ['jina-v1-en', 'jina-v2-code', 'roberta-bpe']
/** Architectures for which llama.cpp converts scores to probabilities (`llm_graph_context::build_pooling`). */
const withProbabilities = ['qwen3', 'qwen3vl']

/** Whether the model's score is a probability. Otherwise, it is a logit. */
export const isProbability = ({ fileInfo }: LlamaModel): boolean =>
  withProbabilities.includes(fileInfo.metadata.general.architecture)

/**
 * Returns a function that combines a query and a document: with special tokens, or with the model's template, in which
 * `{query}` and `{document}` are replaced. Special tokens in the query or document are treated as text. In an input of
 * more than `maxTokens`, the document is separate, so that it can be shortened.
 */
export function rankingInput(model: LlamaModel, tokenize: Tokenize) {
  const { 'chat_template.rerank': template } = model.fileInfo.metadata.tokenizer
  const { begin, end } = textEnds(model)
  const read = (text: string, parseSpecial: boolean, maxTokens?: number) =>
    tokenize({ text, addSpecial: false, parseSpecial }, maxTokens)

  /** Whether a text has the same tokens if special tokens in it are parsed. */
  async function isPlain(text: string): Promise<boolean> {
    const [plain, parsed] = [await read(text, false), await read(text, true)]
    return plain.tokens.join() === parsed.tokens.join()
  }

  async function fill(parts: string, values: Record<string, string>, maxTokens: number) {
    // Tokens may extend over the borders of the query and document, so the whole text is tokenized if possible.
    const whole = await read(
      parts.replace(placeholders, (name) => values[name] ?? ''),
      true,
      maxTokens,
    )
    if (whole.tokens.length <= maxTokens) {
      const arePlain = await Promise.all(Object.values(values).map(isPlain))
      if (arePlain.every(Boolean)) {
        return { before: whole.tokens, text: [], after: [], isWhole: true }
      }
    }
    const input: Input = { before: [], text: [], after: [], isWhole: true }
    let side = input.before
    for (const part of parts.split(placeholders)) {
      const value = values[part]
      const { tokens, isWhole } = await read(value ?? part, value === undefined, maxTokens)
      if (part === '{document}') {
        Object.assign(input, { text: tokens, isWhole })
        side = input.after
      } else side.push(...tokens)
    }
    return input
  }

  return async (query: string, document: string, maxTokens: number): Promise<Input> => {
    if (template !== undefined) {
      return await fill(template, { '{query}': query, '{document}': document }, maxTokens)
    }
    const separator = needsSeparator(model) && model.tokens.sep !== null ? [model.tokens.sep] : []
    const { tokens: asked } = await read(query, false, maxTokens)
    const { tokens, isWhole } = await read(document, false, maxTokens)
    return { before: [...begin, ...asked, ...end, ...separator], text: tokens, after: end, isWhole }
  }
}

const placeholders = /(\{query\}|\{document\})/g

/** Whether two texts are separated by a token in addition to the one with which a text ends. */
function needsSeparator({ fileInfo, vocabularyType }: LlamaModel): boolean {
  if (vocabularyType === LlamaVocabularyType.wpm) return false
  const vocabulary = fileInfo.metadata.tokenizer.ggml as { add_sep_token?: boolean; pre?: string }
  return vocabulary.add_sep_token ?? preTokenizersWithSeparator.includes(vocabulary.pre ?? '')
}
