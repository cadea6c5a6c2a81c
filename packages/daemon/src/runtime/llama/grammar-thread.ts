/** The thread that `schema-converter.ts` starts: it converts schemas to grammars. */
import { serveParent } from '@shoal/threads/parent'
import { jsonGrammar } from './json-grammar.ts'

serveParent(() => ({
  /** Takes the schema as JSON. Throws a `SchemaError` if no grammar can enforce it. */
  convert: (schema: string): string => jsonGrammar(JSON.parse(schema)),
}))
