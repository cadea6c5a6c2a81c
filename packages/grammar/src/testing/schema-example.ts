import { Compile } from 'typebox/schema'
import { expect } from 'vitest'
import { parseGbnf } from '../matching/gbnf-parser.ts'
import { matchesGbnf } from './gbnf.ts'
import { findInvalidTexts } from './invalid-texts.ts'

/** Both the validator and the grammar must accept the values in `good`, and reject those in `bad`. */
export type SchemaExample = { schema: object; good?: readonly unknown[]; bad?: readonly unknown[] }

/**
 * Checks with the validator that strings generated from the schema's grammar are valid. Also checks that the grammar
 * and the validator agree on `good` and `bad`.
 */
export function expectAgreement(source: string, { schema, good = [], bad = [] }: SchemaExample) {
  expect(findInvalidTexts(schema, source)).toEqual([])
  const check = Compile(schema)
  const grammar = parseGbnf(source)
  const allowed = (value: unknown) => matchesGbnf(grammar, JSON.stringify(value))
  expect(good.map((value) => [value, check.Check(value), allowed(value)])).toEqual(
    good.map((value) => [value, true, true]),
  )
  expect(bad.map((value) => [value, check.Check(value), allowed(value)])).toEqual(
    bad.map((value) => [value, false, false]),
  )
}
