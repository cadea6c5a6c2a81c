/**
 * Each grammar is tested with the demo model, at a temperature so high that the model generates anything that the
 * grammar allows.
 */
import { join } from 'node:path'
import { Compile } from 'typebox/schema'
import { beforeAll, expect, test } from 'vitest'
import { greedy, makeChatGeneration, runGeneration } from '../../testing/generations.ts'
import { openLlamaModel } from '../llama/llama-model.ts'
import { jsonGrammar } from './json-grammar.ts'

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
    'some that are required',
    pair({ a: { type: 'null' }, b: { const: 'x"\\' }, c: {} }, { required: ['b'] }),
  ],
  ['a map', { type: 'object', additionalProperties: integer({ minimum: 0, maximum: 9 }) }],
  ['properties and others', pair({ a: { const: 1 } }, { additionalProperties: { type: 'null' } })],
  ['either of two', { oneOf: [{ type: 'null' }, pair({ a: { enum: [1, 'ä', null] } })] }],
  ['all of two', { allOf: [pair({ a: { const: 1 } }, { required: ['a'] }), pair({ b: {} })] }],
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
    'all of two that have alternatives',
    {
      allOf: [
        { anyOf: [pair({ a: { const: 1 } }, { required: ['a'] }), pair({ a: { const: 2 } })] },
        { oneOf: [pair({ b: { const: 1 } }, { required: ['b'] })] },
      ],
    },
  ],
  ['the narrower of two bounds', { allOf: [integer({ minimum: 5, maximum: 9 }), { minimum: 1 }] }],
  [
    'a property of two parts',
    { allOf: [pair({ a: integer({ minimum: 3 }) }), pair({ a: integer({ maximum: 4 }) })] },
  ],
  ['a tuple that is cut', { prefixItems: [{ const: 1 }, { const: 2 }], maxItems: 1 }],
  ['an id as zod writes it', { type: 'string', format: 'uuid', pattern: '^[0-9a-f-]+$' }],
  ['a moment in microseconds', integer({ minimum: 10 ** 15, maximum: 3 * 10 ** 15 })],
  [
    'a hundred that are optional',
    pair(
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, { const: 1 }])),
    ),
  ],
  ['several types', { type: ['integer', 'null'] }],
  ['a list', { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2, maxItems: 3 }],
  ['a list of none', { type: 'array', items: { const: 1 }, maxItems: 0 }],
  [
    'a tuple',
    { type: 'array', prefixItems: [{ const: 1 }, { type: 'boolean' }], items: false, minItems: 2 },
  ],
  ['a string of a length', { type: 'string', minLength: 3, maxLength: 5 }],
  ['an integer from 1 on', integer({ minimum: 1 })],
  ['an integer of an odd range', integer({ minimum: 37, maximum: 1203 })],
  ['an integer below zero', integer({ minimum: -120, exclusiveMaximum: 0 })],
  ['an integer around zero', integer({ minimum: -3, maximum: 3 })],
  ['an integer from 250 on', integer({ exclusiveMinimum: 249 })],
  ['any safe integer', integer({ minimum: -9007199254740991, maximum: 9007199254740991 })],
  ['a share', number({ minimum: 0, maximum: 1 })],
  ['a share that is not all', number({ minimum: 0, exclusiveMaximum: 1 })],
  ['a positive number', number({ exclusiveMinimum: 0 })],
  ['a number between two', number({ minimum: -20, maximum: 45 })],
  ['a day', { type: 'string', format: 'date' }],
  ['a moment', { type: 'string', format: 'date-time' }],
  ['an id', { type: 'string', format: 'uuid' }],
  [
    'a schema that contains itself',
    {
      $ref: '#/$defs/node',
      $defs: { node: pair({ next: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/node' }] } }) },
    },
  ],
])('%s', async (_, schema) => {
  const check = Compile(schema)
  const answers = await Promise.all(
    [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => {
      const sampling = { ...greedy, temperature: 1.6, seed }
      return runGeneration(
        model,
        makeChatGeneration('JSON', { json: schema, sampling, maxTokens: 300 }),
      )
    }),
  )
  // If the grammar lets a value continue indefinitely, the model may never end the value.
  const whole = answers.filter(({ reason }) => reason === 'stop').map(({ text }) => text)
  expect(whole.length).toBeGreaterThan(1)
  expect(whole.filter((text) => !check.Check(JSON.parse(text)))).toEqual([])
})

test.each<[string, object]>([
  ['/properties/a: pattern', pair({ a: { type: 'string', pattern: '^x' } })],
  ['multipleOf', integer({ multipleOf: 3 })],
  ['these bounds', number({ minimum: 0.5 })],
  ['these bounds', integer({ minimum: 5, maximum: 4 })],
  ['uniqueItems', { type: 'array', uniqueItems: true }],
  ['does not exist', { $ref: '#/$defs/nobody' }],
  ['https://example.org', { $ref: 'https://example.org/x.json' }],
  ['/type is text', { type: 'text' }],
  ['b is not a property', pair({ a: {} }, { required: ['b'] })],
  ['a minimum length above the maximum', { type: 'string', minLength: 5, maxLength: 2 }],
  ['a minimum length above the maximum', { type: 'array', minItems: 3, maxItems: 1 }],
  ['an invalid length', { type: 'string', maxLength: -1 }],
  ['an invalid length', { type: 'string', maxLength: 1.5 }],
  ['requires a list', { enum: [] }],
  ['requires a list', { anyOf: [] }],
  ['requires a list', { type: [] }],
  ['requires a list', { ...pair({ a: {} }), required: 'a' }],
  ['requires a list', { type: 'array', prefixItems: {} }],
  ['without end', { allOf: [{ $ref: '#' }, pair({})] }],
  ['have no type in common', { allOf: [{ type: 'string' }, { type: 'null' }] }],
  ['contradict each other', { allOf: [{ const: 1 }, { const: 2 }] }],
  ['a $ref to #name', { $ref: '#name' }],
  ['a length of more than', { type: 'string', maxLength: 100_000 }],
])('a schema that cannot be enforced is rejected: %s', (words, schema) => {
  expect(() => jsonGrammar(schema)).toThrow(words)
})
