/** Converts the schemas of llama.cpp's tests to grammars, and validates strings generated from the grammars. */
import { jsonGrammar } from '@shoal/grammar'
import { findInvalidTexts } from '@shoal/grammar/testing'
import type { LlamaReference } from './llama-reference.ts'

/** A case, as `native/schemas.cpp` prints it. */
type SchemaCase = { name: string; schema: string; isValid: boolean }

export type SchemaResult = {
  name: string
  /** Why the result is wrong; empty if it is correct. */
  detail: string
}

export async function scoreSchemas(reference: LlamaReference): Promise<SchemaResult[]> {
  return ((await reference.read('schemas')) as SchemaCase[]).map((test) => ({
    name: test.name,
    detail: findMistake(test),
  }))
}

/**
 * Describes the mistake, or returns an empty string if there is none. Strings generated from a valid schema's grammar
 * must match the schema, and an invalid schema must be refused.
 */
function findMistake({ schema, isValid }: SchemaCase): string {
  try {
    const parsed = JSON.parse(schema)
    const grammar = jsonGrammar(parsed)
    if (!isValid) return 'the schema is invalid, but was converted'
    const [text] = findInvalidTexts(parsed, grammar)
    return text === undefined ? '' : `the grammar allows invalid text: ${text}`
  } catch (error) {
    return isValid ? String(error) : ''
  }
}
