/**
 * Tests grammars with llama.cpp and the demo model, at a temperature so high that the model generates almost anything
 * that a grammar allows. `sampled-grammar.test.ts` is faster and tests more.
 */
import { join } from 'node:path'
import { Compile } from 'typebox/schema'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { greedy, jsonForm, makeChatGeneration, runGeneration } from '../../testing/generations.ts'
import { openLlamaModel } from './llama-model.ts'

const models = join(import.meta.dirname, '../../../../../models')
const modelPath = join(models, 'shoal-nano/shoal-nano-Q8_0.gguf')

let model: Awaited<ReturnType<typeof openLlamaModel>>
beforeAll(async () => {
  model = await openLlamaModel({ modelPath, contextLength: 512, slots: 4, threads: 1 })
})

const integer = (bounds: object) => ({ type: 'integer', ...bounds })
const number = (bounds: object) => ({ type: 'number', ...bounds })
const pair = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

test.each<[string, object]>([
  ['optional properties', pair({ a: { type: 'null' }, b: { type: 'boolean' } })],
  [
    'optional and required properties',
    pair({ a: { type: 'null' }, b: { const: 'x"\\' }, c: {} }, { required: ['b'] }),
  ],
  ['a map', { type: 'object', additionalProperties: integer({ minimum: 0, maximum: 9 }) }],
  [
    'declared and additional properties',
    pair({ a: { const: 1 } }, { additionalProperties: { type: 'null' } }),
  ],
  ['one of two schemas', { oneOf: [{ type: 'null' }, pair({ a: { enum: [1, 'ä', null] } })] }],
  [
    'both of two schemas',
    { allOf: [pair({ a: { const: 1 } }, { required: ['a'] }), pair({ b: {} })] },
  ],
  ['a base with alternatives', pair({ a: { const: 1 } }, { anyOf: [{ required: ['a'] }, {}] })],
  [
    'its own properties and those of a base',
    {
      ...pair({ own: { const: 1 } }, { required: ['own'], allOf: [{ $ref: '#/$defs/Base' }] }),
      $defs: { Base: pair({ id: integer({ minimum: 1 }) }, { required: ['id'] }) },
    },
  ],
  [
    'a reference with properties beside it',
    {
      ...pair({ own: { const: 1 } }, { required: ['own'], $ref: '#/$defs/Base' }),
      $defs: { Base: pair({ id: { const: 2 } }, { required: ['id'] }) },
    },
  ],
  [
    'both of two schemas that have alternatives',
    {
      allOf: [
        { anyOf: [pair({ a: { const: 1 } }, { required: ['a'] }), pair({ a: { const: 2 } })] },
        { oneOf: [pair({ b: { const: 1 } }, { required: ['b'] })] },
      ],
    },
  ],
  ['the narrower of two bounds', { allOf: [integer({ minimum: 5, maximum: 9 }), { minimum: 1 }] }],
  [
    'a property that two parts constrain',
    { allOf: [pair({ a: integer({ minimum: 3 }) }), pair({ a: integer({ maximum: 4 }) })] },
  ],
  ['a tuple that maxItems shortens', { prefixItems: [{ const: 1 }, { const: 2 }], maxItems: 1 }],
  ['a UUID as zod describes it', { type: 'string', format: 'uuid', pattern: '^[0-9a-f-]+$' }],
  ['a time in microseconds', integer({ minimum: 10 ** 15, maximum: 3 * 10 ** 15 })],
  [
    'a hundred optional properties',
    pair(
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, { const: 1 }])),
    ),
  ],
  ['several types', { type: ['integer', 'null'] }],
  ['a list', { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2, maxItems: 3 }],
  ['an empty list', { type: 'array', items: { const: 1 }, maxItems: 0 }],
  [
    'a tuple',
    { type: 'array', prefixItems: [{ const: 1 }, { type: 'boolean' }], items: false, minItems: 2 },
  ],
  ['a string of limited length', { type: 'string', minLength: 3, maxLength: 5 }],
  ['an integer of at least 1', integer({ minimum: 1 })],
  ['an integer within an irregular range', integer({ minimum: 37, maximum: 1203 })],
  ['an integer below zero', integer({ minimum: -120, exclusiveMaximum: 0 })],
  ['an integer around zero', integer({ minimum: -3, maximum: 3 })],
  ['an integer of at least 250', integer({ exclusiveMinimum: 249 })],
  ['any safe integer', integer({ minimum: -9007199254740991, maximum: 9007199254740991 })],
  ['a number from 0 to 1', number({ minimum: 0, maximum: 1 })],
  ['a number from 0 to below 1', number({ minimum: 0, exclusiveMaximum: 1 })],
  ['a positive number', number({ exclusiveMinimum: 0 })],
  ['a number within two bounds', number({ minimum: -20, maximum: 45 })],
  ['a date', { type: 'string', format: 'date' }],
  ['a date and time', { type: 'string', format: 'date-time' }],
  ['a UUID', { type: 'string', format: 'uuid' }],
  ['a pattern', { type: 'string', pattern: '^[A-Z]{2}-\\d{1,3}(?:"x"|\\\\|é)?$' }],
  ['a number with two decimal places', number({ multipleOf: 0.01, minimum: 0.5, maximum: 20 })],
  [
    'an email address that a pattern limits',
    z.toJSONSchema(z.email({ pattern: z.regexes.unicodeEmail })),
  ],
  ['a list that must contain a value', { type: 'array', contains: { const: 5 }, maxItems: 4 }],
  ['five letters of any alphabet', { type: 'string', pattern: '^\\p{L}{5}$' }],
  ['a string of up to a thousand characters', { type: 'string', maxLength: 1000 }],
  [
    'a schema that contains itself',
    {
      $ref: '#/$defs/node',
      $defs: { node: pair({ next: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/node' }] } }) },
    },
  ],
])('generated JSON matches the schema: %s', async (_, schema) => {
  const check = Compile(schema)
  const answers = await Promise.all(
    [1, 2, 3, 4].map((seed) => {
      const sampling = { ...greedy, temperature: 1.6, seed }
      return runGeneration(
        model,
        makeChatGeneration('JSON', { form: jsonForm(schema), sampling, maxTokens: 300 }),
      )
    }),
  )
  // If the grammar lets a value continue indefinitely, the model may never end the value.
  const whole = answers.filter(({ reason }) => reason === 'stop').map(({ text }) => text)
  expect(whole.length).toBeGreaterThan(1)
  expect(whole.filter((text) => !check.Check(JSON.parse(text)))).toEqual([])
})
