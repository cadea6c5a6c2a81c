import { expect, test } from 'vitest'
import { getForm, getResponseForm } from './answer-form.ts'

const schema = { type: 'integer' }

test.each([
  [{ response_format: { type: 'json_object' as const, schema } }, 'response_format', { schema }],
  [{ json_schema: schema }, 'json_schema', { schema }],
  [{ grammar: 'root ::= "a"' }, 'grammar', { gbnf: 'root ::= "a"' }],
  [{ guided_json: JSON.stringify(schema) }, 'guided_json', { schema }],
  [{ guided_regex: 'a+' }, 'guided_regex', { pattern: 'a+' }],
  [{ guided_choice: ['a', 'b'] }, 'guided_choice', { choices: ['a', 'b'] }],
  [{ structured_outputs: { regex: 'a+' } }, 'structured_outputs.regex', { pattern: 'a+' }],
  [
    { structured_outputs: { json_object: true } },
    'structured_outputs.json_object',
    { schema: { type: 'object' } },
  ],
])('the form of an answer is read from %j', (request, param, source) => {
  expect(getForm(request)).toEqual({ param, ...source })
})

test('fields without a value demand no form', () => {
  const empty = { grammar: '', json_schema: null, response_format: { type: 'text' as const } }
  expect(getForm({ ...empty, structured_outputs: { json_object: false } })).toBeUndefined()
})

test('a request may demand only one form, and none that is not supported', () => {
  const format = { type: 'json_object' as const }
  const refused = (param: string) =>
    expect.objectContaining({ details: expect.objectContaining({ param }) })
  expect(() => getForm({ response_format: format, grammar: 'x' })).toThrow(refused('grammar'))
  const response = { model: 'm', input: '', text: { format }, json_schema: schema }
  expect(() => getResponseForm(response)).toThrow(refused('json_schema'))
  expect(() => getForm({ guided_json: '{' })).toThrow(refused('guided_json'))
  const tagged = { structured_outputs: { regex: 'a', structural_tag: 'x' } }
  expect(() => getForm(tagged)).toThrow(refused('structured_outputs.structural_tag'))
})
