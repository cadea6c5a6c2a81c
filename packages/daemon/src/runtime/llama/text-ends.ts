import { type LlamaModel, LlamaVocabularyType, type Token } from 'node-llama-cpp'

/**
 * The special tokens with which llama.cpp begins and ends a text to embed (`llama_vocab::impl::tokenize`). The library's
 * own function leaves out the first token for vocabularies of T5's type, such as that of XLM-RoBERTa.
 */
export function textEnds({ vocabularyType, tokens }: LlamaModel) {
  const isWordPiece = vocabularyType === LlamaVocabularyType.wpm
  const { bos, eos, sep, shouldPrependBosToken, shouldAppendEosToken } = tokens
  const begin = isWordPiece || shouldPrependBosToken ? bos : null
  const end = isWordPiece ? sep : shouldAppendEosToken ? eos : null
  const listOf = (token: Token | null) => (token === null ? [] : [token])
  return {
    begin: listOf(begin),
    end: listOf(end),
    /** Adds the special tokens that a text does not already have. */
    add(text: Token[]) {
      return {
        before: text[0] === begin ? [] : listOf(begin),
        text,
        after: text.at(-1) === end ? [] : listOf(end),
      }
    },
  }
}
