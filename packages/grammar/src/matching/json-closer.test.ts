import { expect, test } from 'vitest'
import { jsonGrammar } from '../json/json-grammar.ts'
import { jsonCloser } from './json-closer.ts'

/** Simulates a model that writes `text`, one character per token, up to `maxTokens` tokens. Returns what is written. */
function write(schema: object, text: string, maxTokens: number): string {
  const closer = jsonCloser(jsonGrammar(schema), (some) => some.length)
  let written = ''
  for (const char of text) {
    if (!closer.allows(char, maxTokens - written.length - 1)) {
      return written + closer.closing().text
    }
    written += char
  }
  return written
}

const person = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2 },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['name', 'tags'],
}
const text = `{"name":"Ada","tags":["a","b",${'"longer",'.repeat(20)}"z"]}`

test('a text that fits is not changed', () => {
  expect(write(person, text, text.length)).toBe(text)
})

test.each(Array.from({ length: 60 }, (_, index) => 23 + index))(
  'a text is closed within %d tokens',
  (maxTokens) => {
    const written = write(person, text, maxTokens)
    expect(written.length).toBeLessThanOrEqual(maxTokens)
    const { name, tags } = JSON.parse(written)
    expect(name.length).toBeGreaterThanOrEqual(2)
    expect(tags).toBeInstanceOf(Array)
  },
)

test('a text that cannot be closed within the limit is not changed', () => {
  expect(write(person, text, 10)).toBe(text)
})

test('the text is closed as late as possible', () => {
  expect(write({ type: 'array', items: { type: 'integer' } }, '[1,2,3,4,5,6]', 6)).toBe('[1,2]')
  expect(write({ type: 'string' }, '"abcdef"', 5)).toBe('"abc"')
  expect(write({ enum: ['yes', 'no'] }, '"yes"', 4)).toBe('"no"')
})

test('a text that the grammar does not allow is not changed', () => {
  expect(write({ type: 'null' }, '{"a":1}', 5)).toBe('{"a":1}')
})
