/** The scores that `npm run conformance` must reach, and the numbers of cases, which must not change unnoticed. */
export const scores = {
  /** Conversations that llama.cpp renders. */
  renderings: { total: 536, minEqual: 534, maxFailed: 0 },
  /** Cases whose answer contains tool calls. */
  calls: { total: 248, min: 247 },
  /** Cases with calls for which there is a grammar. The grammar must allow the calls. */
  grammars: { total: 245, min: 245 },
  cases: { total: 427, min: 419 },
  /** Schemas of llama.cpp's tests. */
  schemas: { total: 79, min: 79 },
  vocabularies: { total: 19, min: 19 },
}
