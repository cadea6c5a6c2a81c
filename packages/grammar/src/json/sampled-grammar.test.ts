/** Generates hundreds of strings from each grammar without a model, and checks them with a validator. */
import { test } from 'vitest'
import { expectAgreement, type SchemaExample } from '../testing/schema-example.ts'
import { jsonGrammar } from './json-grammar.ts'

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

const examples: Record<string, SchemaExample> = {
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
  'an excluded property': {
    schema: object({ a: aNull, b: aNull }, { not: { required: ['a'] } }),
    good: [{ b: null }, {}],
    bad: [{ a: null }],
  },
  'a double negation': {
    schema: string({ not: { not: { minLength: 2 } } }),
    good: ['ab'],
    bad: ['a'],
  },
  'oneOf with options that overlap': {
    schema: { oneOf: [number({ multipleOf: 5 }), number({ multipleOf: 3 })] },
    good: [5, 9],
    bad: [15, 7],
  },
  'oneOf beside a keyword for another type': {
    schema: { maxItems: 3, oneOf: [{ type: 'string' }, { enum: ['a', 1] }] },
    good: ['b', 1],
    bad: ['a', 2],
  },
  'oneOf with options that a property distinguishes': {
    schema: {
      oneOf: [
        object({ kind: { const: 'a' }, x: aNull }, { required: ['kind'] }),
        object({ kind: { const: 'b' } }, { required: ['kind'] }),
      ],
    },
    good: [{ kind: 'a', x: null }, { kind: 'b' }],
    bad: [{ kind: 'c' }, {}],
  },
  'exactly one of two properties': {
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
  'unique items': {
    schema: array({ items: { enum: ['a', 'b', 'c'] }, uniqueItems: true, minItems: 2 }),
    good: [
      ['a', 'b'],
      ['c', 'a', 'b'],
    ],
    bad: [['a'], ['a', 'a']],
  },
  'unique items from a longer list': {
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
  'a map whose names match a pattern': {
    schema: {
      type: 'object',
      propertyNames: { pattern: '^[a-z]', maxLength: 3 },
      additionalProperties: aNull,
    },
    good: [{}, { a: null, bc: null }],
    bad: [{ abcd: null }, { '1': null }, { a: 1 }],
  },
  'patternProperties and additionalProperties': {
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
  'additional properties do not repeat declared ones': {
    schema: object(
      { a: { type: 'integer' }, ab: aNull },
      { additionalProperties: { type: 'string' } },
    ),
    good: [{ a: 1, abc: 'x', b: '' }],
    bad: [{ a: 'x' }, { ab: 'x' }],
  },
  'a limited number of properties': {
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
  'an optional property that no value matches is omitted': {
    schema: object({ a: string({ minLength: 5, maxLength: 2 }), b: aNull }),
    good: [{ b: null }, {}],
    bad: [{ a: 'abc' }],
  },
  'listed values are checked against the other keywords': {
    schema: {
      enum: ['a', 'abc', 1, 7, null],
      type: ['string', 'integer'],
      minLength: 2,
      minimum: 3,
    },
    good: ['abc', 7],
    bad: ['a', 1, null],
  },
  'a closed schema in allOf forbids properties that only the other schemas declare': {
    schema: {
      allOf: [object({ a: aNull }, { additionalProperties: false }), { properties: { b: aNull } }],
    },
    good: [{ a: null }, {}],
    bad: [{ a: null, b: null }],
  },
  'a schema that contains itself through allOf': {
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
  'unevaluatedProperties ignores the schema around its own': {
    schema: {
      ...object({ a: aNull }),
      oneOf: [object({ b: aNull }, { required: ['b'], unevaluatedProperties: false }), aNull],
    },
    good: [{ b: null }],
    bad: [{ a: null, b: null }, { a: null }, null],
  },
  'unevaluatedProperties ignores other schemas in allOf': {
    schema: {
      allOf: [
        { ...object({ a: aNull }), unevaluatedProperties: { type: 'integer' } },
        object({ b: { maximum: 5 } }, { required: ['b'], patternProperties: { '^x': {} } }),
      ],
    },
    good: [{ b: 1 }, { b: 5, a: null, x: 1 }],
    bad: [{ b: null }, { b: 6 }, { b: 1, x: null }],
  },
  'unevaluatedProperties considers schemas within its own': {
    schema: {
      ...object({ a: aNull }),
      allOf: [{ properties: { b: aNull } }],
      unevaluatedProperties: false,
    },
    good: [{ a: null, b: null }],
    bad: [{ c: null }],
  },
}

test.each(Object.entries(examples))('the grammar agrees with the validator: %s', (_, example) => {
  expectAgreement(jsonGrammar(example.schema), example)
})
