/** The thread that `grammar-converter.ts` starts. It converts schemas and tools to grammars. */

import { callGrammar, jsonGrammar } from '@shoal/grammar'
import { serveParent } from '@shoal/threads/parent'
import type { GrammarSource } from './grammar-converter.ts'

serveParent(() => ({
  /**
   * Converts a `GrammarSource`, which is passed as JSON, to GBNF. Throws a `SchemaError` if no grammar can enforce a
   * schema.
   */
  convert(json: string): string {
    const source: GrammarSource = JSON.parse(json)
    return 'calls' in source ? callGrammar(source.calls) : jsonGrammar(source.schema)
  },
}))
