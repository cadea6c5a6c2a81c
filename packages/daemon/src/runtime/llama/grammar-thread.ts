/** The thread that `grammar-converter.ts` starts. It converts schemas and tools to grammars. */

import {
  answerGrammar,
  callGrammar,
  checkGrammar,
  choiceGrammar,
  jsonGrammar,
  patternGrammar,
} from '@shoal/grammar'
import { serveParent } from '@shoal/threads/parent'
import type { GrammarSource } from './grammar-converter.ts'

serveParent(() => ({
  /**
   * Converts a `GrammarSource`, which is passed as JSON, to GBNF. Throws a `SchemaError` if no grammar can enforce it.
  
   */
  convert(json: string): string {
    const source: GrammarSource = JSON.parse(json)
    if ('answer' in source) return answerGrammar(source.answer)
    if ('calls' in source) return callGrammar(source.calls)
    if ('gbnf' in source) {
      checkGrammar(source.gbnf)
      return source.gbnf
    }
    if ('pattern' in source) return patternGrammar(source.pattern)
    return 'choices' in source ? choiceGrammar(source.choices) : jsonGrammar(source.schema)
  },
}))
