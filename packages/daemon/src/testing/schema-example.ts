import { Compile } from 'typebox/schema'
import { expect } from 'vitest'
import { parseGbnf } from '../runtime/grammar/gbnf-parser.ts'
import { matchesGbnf } from './gbnf.ts'
import { findInvalidTexts } from './invalid-texts.ts'

/** `good` and `bad` are values that the validator accepts and rejects. The grammar has to agree. */
export type SchemaExample = { schema: object; good?: readonly unknown[]; bad?: readonly unknown[] }

/** Generates texts from the schema's grammar for the validator, and compares the grammar and the validator. */
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
