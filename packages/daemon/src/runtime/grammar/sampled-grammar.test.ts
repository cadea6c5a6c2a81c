/** Hundreds of texts are generated from each grammar without a model, and checked by a validator. */
import { Compile } from 'typebox/schema'
import { expect, test } from 'vitest'
import { matchesGbnf, parseGbnf } from '../../testing/gbnf.ts'
import { findInvalidTexts } from '../../testing/invalid-texts.ts'
import { jsonGrammar } from './json-grammar.ts'

/** `good` and `bad` are values that the validator accepts and rejects. The grammar has to agree. */
type Example = { schema: object; good?: readonly unknown[]; bad?: readonly unknown[] }

const string = (keywords: object) => ({ type: 'string', ...keywords })
const number = (keywords: object) => ({ type: 'number', ...keywords })
const integer = (keywords: object) => ({ type: 'integer', ...keywords })
const array = (keywords: object) => ({ type: 'array', ...keywords })
const object = (properties: object, keywords: object = {}) => ({
  type: 'object',
  properties,
  ...keywords,
})
const aNull = { type: 'null' }

const manyTexts = [...Array.from({ length: 300 }, (_, index) => `item ${index * 3}`), 'é😀', 'é😁"']

const examples: Record<string, Example> = {
  'a pattern without anchors': {
    schema: string({ pattern: '[0-9]+' }),
    good: ['1', 'a1b', '"1\\'],
    bad: ['', 'abc'],
  },
  'a pattern with quotation marks and backslashes': {
    schema: string({ pattern: '^["\\\\/\\n\\t\\u0001é😀]+$' }),
    good: ['"', '\\', '\n\t/', 'é😀', '\u0001'],
    bad: ['', 'a', '\r'],
  },
  'anchors in an alternative': {
    schema: string({ pattern: '^A|B|C|D$' }),
    good: ['Ax', 'xB', 'xCx', 'xD'],
    bad: ['xA', 'Dx', ''],
  },
  'classes and escapes': {
    schema: string({ pattern: '^\\d\\D\\w\\W\\s\\S[^a-c\\d][\\x41\\u{1F600}\\]-]$' }),
    good: ['1a_ \tbdA', '1a_ \tbd😀', '1a_ \tbd-'],
    bad: ['1a_ \tbaA', '11_ \tbdA', '1a_ \tbdB'],
  },
  'groups and quantifiers': {
    schema: string({ pattern: '^(?<year>ab){2}(?:c|d*?)e{1,2}f?$' }),
    good: ['ababce', 'ababdddeef', 'ababe'],
    bad: ['abce', 'ababcdee', 'ababeee'],
  },
  lookaheads: {
    schema: string({ pattern: '^(?=.*\\d)(?!.*x)[a-z0-9]{3,5}$' }),
    good: ['ab1', '12345'],
    bad: ['abc', 'a1x', 'a1'],
  },
  'a Unicode property': {
    schema: string({ pattern: '^\\p{Lu}\\P{L}$' }),
    good: ['É1'],
    bad: ['é1', 'EE'],
  },
  'a hundred letters': {
    schema: string({ pattern: '^\\p{L}{100}$' }),
    good: ['é'.repeat(100)],
    bad: ['é'.repeat(99), '1'.repeat(100)],
  },
  'nested quantifiers': {
    schema: string({ pattern: '^((a+)+)+$' }),
    good: ['aaa'],
    bad: ['', 'ab'],
  },
  'a pattern with lengths': {
    schema: string({ pattern: '^[a-z]+(?:-[a-z]+)*$', minLength: 4, maxLength: 6 }),
    good: ['abcd', 'a-b-c'],
    bad: ['abc', 'abcdefg', 'abc-'],
  },
  'a format and a pattern': {
    schema: string({ format: 'date', pattern: '^2024-' }),
    good: ['2024-02-29'],
    bad: ['2023-01-01', '2024-13-01'],
  },
  'several patterns': {
    schema: { allOf: [string({ pattern: '^a' }), { pattern: 'z$' }, { minLength: 3 }] },
    good: ['abz'],
    bad: ['az', 'abc'],
  },
  'long strings': { schema: string({ minLength: 300, maxLength: 400 }), bad: ['short'] },
  'characters outside the basic plane count once': {
    schema: string({ minLength: 2, maxLength: 2 }),
    good: ['😀😀', 'ab'],
    bad: ['😀', 'abc'],
  },
  'multiples of a decimal': {
    schema: number({ multipleOf: 0.5 }),
    good: [0, 0.5, -1.5, 12],
    bad: [0.25, 1.1],
  },
  'multiples within bounds': {
    schema: integer({ multipleOf: 7, minimum: -20, maximum: 100 }),
    good: [0, -14, 98],
    bad: [-21, 105, 8],
  },
  'bounds with fractions': {
    schema: number({ minimum: -0.75, exclusiveMaximum: 3.25 }),
    good: [-0.75, 0, 3.2, 3.1999],
    bad: [-0.8, 3.25, 3.9, 4],
  },
  'tiny and huge bounds': {
    schema: number({ minimum: 5e-324, maximum: 1.7976931348623157e308 }),
    good: [0.1, 1000],
    bad: [0, -1],
  },
  'bounds as in draft 4': {
    schema: { allOf: [number({ minimum: 3 }), { exclusiveMinimum: 2 }, { maximum: 5 }] },
    good: [3, 5],
    bad: [2.5, 6],
  },
  'safe integers': {
    schema: integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    good: [0, -5, 1_700_000_000_000_000],
  },
  'a condition': {
    schema: object(
      { country: { enum: ['US', 'CA'] }, zip: { type: 'string' } },
      {
        required: ['country', 'zip'],
        if: { properties: { country: { const: 'US' } } },
        // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
        then: { properties: { zip: { pattern: '^\\d{5}$' } } },
        else: { properties: { zip: { pattern: '^[A-Z]\\d[A-Z]$' } } },
      },
    ),
    good: [
      { country: 'US', zip: '12345' },
      { country: 'CA', zip: 'K1A' },
    ],
    bad: [
      { country: 'US', zip: 'K1A' },
      { country: 'CA', zip: '12345' },
    ],
  },
  'one of many values': {
    schema: { enum: [...manyTexts, '', 'item', 12, 123, { a: 1 }, null] },
    good: ['', 'item', 'item 0', 'item 102', 'é😀', 'é😁"', 12, 123, { a: 1 }, null],
    bad: ['item ', 'item 1', 'é', 1, {}],
  },
  'a string of many beginnings': {
    schema: { enum: Array.from({ length: 100 }, (_, index) => 'a'.repeat(index)) },
    good: ['', 'a'.repeat(99)],
    bad: ['a'.repeat(100)],
  },
  'not a listed value': {
    schema: string({ not: { enum: ['a', 'ab'] }, maxLength: 3 }),
    good: ['', 'b', 'aa', 'abc'],
    bad: ['a', 'ab'],
  },
  'not one of many strings': {
    schema: string({ not: { enum: [...manyTexts, '\ud800'] } }),
    good: ['', 'item 1', 'item 102x', 'é'],
    bad: ['item 102', 'item 9', 'é😀'],
  },
  'not a pattern': { schema: string({ not: { pattern: '^a' } }), good: ['b', ''], bad: ['ab'] },
  'not some types': {
    schema: { not: { type: ['string', 'integer'] } },
    good: [1.5, null],
    bad: ['', 1],
  },
  'not null': {
    schema: { type: ['null', 'integer'], not: { const: null } },
    good: [1],
    bad: [null],
  },
  'not a constant': {
    schema: { type: ['boolean', 'null'], not: { enum: [true, {}] } },
    good: [false, null],
    bad: [true],
  },
  'not a number in the middle': {
    schema: integer({ minimum: 0, maximum: 9, not: { const: 5 } }),
    good: [4, 6],
    bad: [5, 10],
  },
  'not a property': {
    schema: object({ a: aNull, b: aNull }, { not: { required: ['a'] } }),
    good: [{ b: null }, {}],
    bad: [{ a: null }],
  },
  'not what not describes': {
    schema: string({ not: { not: { minLength: 2 } } }),
    good: ['ab'],
    bad: ['a'],
  },
  'one of two that overlap': {
    schema: { oneOf: [number({ multipleOf: 5 }), number({ multipleOf: 3 })] },
    good: [5, 9],
    bad: [15, 7],
  },
  'one of two, beside a keyword of another type': {
    schema: { maxItems: 3, oneOf: [{ type: 'string' }, { enum: ['a', 1] }] },
    good: ['b', 1],
    bad: ['a', 2],
  },
  'one of two that a property tells apart': {
    schema: {
      oneOf: [
        object({ kind: { const: 'a' }, x: aNull }, { required: ['kind'] }),
        object({ kind: { const: 'b' } }, { required: ['kind'] }),
      ],
    },
    good: [{ kind: 'a', x: null }, { kind: 'b' }],
    bad: [{ kind: 'c' }, {}],
  },
  'one of two properties': {
    schema: object({ a: aNull, b: aNull }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
    good: [{ a: null }, { b: null }],
    bad: [{}, { a: null, b: null }],
  },
  'a list that contains a value': {
    schema: array({ items: { type: 'integer' }, contains: { const: 5 } }),
    good: [[5], [1, 5, 2]],
    bad: [[], [1, 2]],
  },
  'a list that contains some values': {
    schema: array({
      items: integer({ minimum: 0, maximum: 9 }),
      contains: { minimum: 5 },
      minContains: 2,
      maxContains: 3,
      minItems: 3,
      maxItems: 5,
    }),
    good: [
      [5, 1, 6],
      [9, 9, 9, 0, 0],
    ],
    bad: [
      [5, 6],
      [1, 2, 3],
      [9, 9, 9, 9],
      [9, 9, 0, 0, 0, 0],
    ],
  },
  'different items': {
    schema: array({ items: { enum: ['a', 'b', 'c'] }, uniqueItems: true, minItems: 2 }),
    good: [
      ['a', 'b'],
      ['c', 'a', 'b'],
    ],
    bad: [['a'], ['a', 'a']],
  },
  'different items of a longer list': {
    schema: array({ items: integer({ minimum: 1, maximum: 20 }), uniqueItems: true, maxItems: 3 }),
    good: [[], [1, 7, 20]],
    bad: [[1, 1], [1, 2, 3, 4], [21]],
  },
  'a tuple as in draft 7': {
    schema: array({ items: [{ type: 'boolean' }, aNull], additionalItems: false }),
    good: [[true, null]],
    bad: [
      [null, null],
      [true, null, 1],
    ],
  },
  'a map with listed names': {
    schema: {
      type: 'object',
      propertyNames: { enum: ['a', 'b'] },
      additionalProperties: { type: 'integer' },
      required: ['a'],
    },
    good: [{ a: 1 }, { a: 1, b: 2 }],
    bad: [{}, { a: 1, c: 2 }, { a: null }],
  },
  'a map with names of a pattern': {
    schema: {
      type: 'object',
      propertyNames: { pattern: '^[a-z]', maxLength: 3 },
      additionalProperties: aNull,
    },
    good: [{}, { a: null, bc: null }],
    bad: [{ abcd: null }, { '1': null }, { a: 1 }],
  },
  'properties of patterns': {
    schema: object(
      { x: aNull },
      {
        patternProperties: { '^x-': { type: 'string' }, '^y': { type: 'integer' } },
        additionalProperties: { type: 'boolean' },
      },
    ),
    good: [{ x: null, 'x-a': 'b', y1: 2, z: true }],
    bad: [{ x: 1 }, { 'x-a': 1 }, { y1: true }, { z: null }],
  },
  'other properties do not repeat those with names': {
    schema: object(
      { a: { type: 'integer' }, ab: aNull },
      { additionalProperties: { type: 'string' } },
    ),
    good: [{ a: 1, abc: 'x', b: '' }],
    bad: [{ a: 'x' }, { ab: 'x' }],
  },
  'a number of properties': {
    schema: object(
      { a: aNull, b: aNull, c: aNull },
      { minProperties: 1, maxProperties: 2, additionalProperties: false },
    ),
    good: [{ a: null }, { b: null, c: null }],
    bad: [{}, { a: null, b: null, c: null }],
  },
  'a map that is not empty': {
    schema: { type: 'object', additionalProperties: aNull, minProperties: 1, maxProperties: 3 },
    good: [{ a: null }, { a: null, b: null, c: null }],
    bad: [{}, { a: null, b: null, c: null, d: null }],
  },
  'a property that requires another': {
    schema: object({ a: aNull, b: aNull }, { dependentRequired: { a: ['b'] } }),
    good: [{}, { b: null }, { a: null, b: null }],
    bad: [{ a: null }],
  },
  'a property that requires a schema': {
    schema: object(
      { a: aNull, b: { type: 'integer' } },
      { dependentSchemas: { a: { properties: { b: { minimum: 5 } } } } },
    ),
    good: [{ b: 1 }, { a: null, b: 5 }],
    bad: [{ a: null, b: 1 }],
  },
  'a required property that is not described': {
    schema: object({ a: aNull }, { required: ['b'] }),
    good: [{ b: 1 }, { a: null, b: [] }].map(({ b, ...rest }) => ({ b, ...rest })),
    bad: [{ a: null }],
  },
  'a property that nothing matches is left out': {
    schema: object({ a: string({ minLength: 5, maxLength: 2 }), b: aNull }),
    good: [{ b: null }, {}],
    bad: [{ a: 'abc' }],
  },
  'listed values are checked with the other keywords': {
    schema: {
      enum: ['a', 'abc', 1, 7, null],
      type: ['string', 'integer'],
      minLength: 2,
      minimum: 3,
    },
    good: ['abc', 7],
    bad: ['a', 1, null],
  },
  'a closed schema in allOf forbids the properties of others': {
    schema: {
      allOf: [object({ a: aNull }, { additionalProperties: false }), { properties: { b: aNull } }],
    },
    good: [{ a: null }, {}],
    bad: [{ a: null, b: null }],
  },
  'a schema that contains itself through parts': {
    schema: {
      $ref: '#/$defs/node',
      $defs: {
        node: object({
          value: { type: 'integer' },
          next: { allOf: [{ $ref: '#/$defs/node' }, { required: ['value'] }] },
        }),
      },
    },
    good: [{}, { value: 1, next: { value: 2 } }],
    bad: [{ next: {} }, { value: 1, next: { value: 2, next: {} } }],
  },
  'what another schema evaluates': {
    schema: {
      ...object({ a: aNull }),
      oneOf: [object({ b: aNull }, { required: ['b'], unevaluatedProperties: false }), aNull],
    },
    good: [{ b: null }],
    bad: [{ a: null, b: null }, { a: null }, null],
  },
  'properties that another schema evaluates': {
    schema: {
      allOf: [
        { ...object({ a: aNull }), unevaluatedProperties: { type: 'integer' } },
        object({ b: { maximum: 5 } }, { required: ['b'], patternProperties: { '^x': {} } }),
      ],
    },
    good: [{ b: 1 }, { b: 5, a: null, x: 1 }],
    bad: [{ b: null }, { b: 6 }, { b: 1, x: null }],
  },
  'nothing is evaluated twice': {
    schema: {
      ...object({ a: aNull }),
      allOf: [{ properties: { b: aNull } }],
      unevaluatedProperties: false,
    },
    good: [{ a: null, b: null }],
    bad: [{ c: null }],
  },
}

test.each(Object.entries(examples))('%s', (_, { schema, good = [], bad = [] }) => {
  const source = jsonGrammar(schema)
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
})
