/** The thread that `grammar-converter.ts` starts. It converts schemas and tools to grammars. */
import { serveParent } from '@shoal/threads/parent'
import { callGrammar } from '../grammar/calls/call-grammar.ts'
import { jsonGrammar } from '../grammar/json-grammar.ts'
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
