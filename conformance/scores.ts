/** The scores that `npm run conformance` must reach, and the numbers of cases, which must not change unnoticed. */
export const scores = {
  /** Conversations that llama.cpp renders. */
  renderings: { total: 604, minEqual: 602, maxFailed: 0 },
  /** Conversations that do not say whether to think. */
  defaultThinking: { total: 68, min: 68 },
  /** Conversations with forged markers. Prompts contain at least this many of them, and none may become a token. */
  forgeries: { total: 608, minFound: 67_000 },
  /** Cases whose answer is only calls, if a schema also applies to the answer. */
  callsBesideFormat: { total: 109, min: 106 },
  /** Templates whose answers must be JSON, after reasoning if the format has any. */
  thinkingBeforeJson: { total: 56, min: 56 },
  /** Cases whose answer contains tool calls. */
  calls: { total: 248, min: 247 },
  /** Cases with calls for which there is a grammar. The grammar must allow the calls. */
  grammars: { total: 245, min: 245 },
  cases: { total: 427, min: 419 },
  /** Schemas of llama.cpp's tests. */
  schemas: { total: 79, min: 79 },
  vocabularies: { total: 19, min: 19 },
}
