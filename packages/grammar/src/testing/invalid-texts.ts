import { Compile } from 'typebox/schema'
import { parseGbnf } from '../matching/gbnf-parser.ts'
import { randomNumbers, textGenerator } from './gbnf.ts'

/** Generates 300 strings from the grammar of a schema, and returns those that do not match the schema. */
export function findInvalidTexts(schema: object, grammar: string): string[] {
  const check = Compile(schema)
  const generate = textGenerator(parseGbnf(grammar), randomNumbers(1))
  const texts = Array.from({ length: 300 }, generate)
  return texts.filter((text) => !check.Check(JSON.parse(text)))
}
