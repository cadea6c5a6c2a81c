import { expect, test } from 'vitest'
import { itemSchema, propertySchema } from './schema-types.ts'

const root = { $defs: { 'a/b ~c': { items: { type: 'integer' } } } }

test('a reference may contain escaped names', () => {
  expect(itemSchema({ $ref: '#/$defs/a~1b%20~0c' }, root)).toEqual({ type: 'integer' })
})

test('a reference whose target does not exist is ignored', () => {
  expect(itemSchema({ $ref: '#/$defs/missing' }, root)).toBeUndefined()
  expect(propertySchema({ $ref: '#/$defs/%' }, 'name', root)).toBeUndefined()
})
