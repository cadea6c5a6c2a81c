import { expect, test } from 'vitest'
import { SchemaError } from '../schema/schema-error.ts'
import { jsonGrammar } from './json-grammar.ts'

const string = (pattern: string) => ({ type: 'string', pattern })
const inA = (schema: object) => ({ type: 'object', properties: { a: schema } })
const inUse = (schema: object) => ({ ...inA(schema), required: ['a'] })
const strings = { type: 'array', items: { type: 'string' } }
const countTo = (count: number) => Array.from({ length: count }, (_, index) => index)

test.each<[string, object]>([
  ['/properties/a: pattern cannot be enforced: it has a lookbehind', inA(string('(?<=a)b'))],
  ['pattern cannot be enforced: it has a lookbehind', string('(?<!a)b')],
  ['pattern cannot be enforced: it has a backreference', string('(a)\\1')],
  ['pattern cannot be enforced: it has a backreference', string('(?<n>a)\\k<n>')],
  ['pattern cannot be enforced: it has a word boundary (\\b)', string('\\ba')],
  ['pattern cannot be enforced: it has a group with flags', string('(?i:a)')],
  ['pattern cannot be enforced: it has the unknown escape \\A', string('\\Aa')],
  ['pattern cannot be enforced: it has the unknown property \\p{Nobody}', string('\\p{Nobody}')],
  ['pattern cannot be enforced: it repeats an anchor or a lookahead', string('(?:^a)*')],
  ['pattern cannot be enforced: it has an unclosed group', string('^(a$')],
  ['pattern cannot be enforced: it has an unmatched closing parenthesis', string('a)')],
  ['pattern cannot be enforced: it has a quantifier with nothing to repeat', string('+a')],
  ['pattern cannot be enforced: it ends too early', string('[a')],
  ['pattern cannot be enforced: it has an invalid range', string('[\\d-z]')],
  ['/pattern is not a string', { type: 'string', pattern: 1 }],
  ['no string matches all of its keywords', { ...string('^a'), format: 'date' }],
  ['no string matches all of its keywords', { ...string('^a$'), minLength: 2 }],
  [
    'multipleOf cannot be enforced: it needs too many states',
    { type: 'integer', multipleOf: 99_991 },
  ],
  ['/multipleOf is not greater than zero', { type: 'integer', multipleOf: 0 }],
  ['no integer is within its bounds', { type: 'integer', minimum: 5, maximum: 4 }],
  ['no number that can be generated', { type: 'number', minimum: 5, exclusiveMaximum: 5 }],
  ['no number that can be generated', { type: 'number', minimum: 1e300 }],
  ['/minimum is not a number', { type: 'number', minimum: '1' }],
  ['uniqueItems cannot be enforced', { ...strings, uniqueItems: true }],
  ['uniqueItems cannot be enforced', { type: 'array', uniqueItems: true }],
  ['contains cannot be enforced', { ...strings, allOf: [{ contains: {} }, { contains: true }] }],
  ['minProperties cannot be enforced', { type: 'object', minProperties: 2 }],
  [
    'propertyNames cannot be enforced',
    { propertyNames: { anyOf: [{ const: 'a' }, { minLength: 2 }] } },
  ],
  [
    'not cannot be enforced: it contains additionalProperties',
    { not: { additionalProperties: false } },
  ],
  ['not cannot be enforced: enum or const lists an object', { not: { const: { a: 1 } } }],
  ['not cannot be enforced: enum or const lists an array', { type: 'array', not: { enum: [[]] } }],
  ['not cannot be enforced: it contains format', { not: { format: 'date' } }],
  [
    'oneOf cannot be enforced: a value could match both 0 and 1',
    { oneOf: [{ type: 'string' }, { type: 'string', format: 'date' }] },
  ],
  [
    'items cannot be enforced: enum or const lists an array',
    { const: [1], items: { type: 'integer' } },
  ],
  ['$dynamicRef cannot be enforced', { $dynamicRef: '#node' }],
  ['does not exist', { $ref: '#/$defs/nobody' }],
  ['does not exist', { $ref: '#/constructor' }],
  ['does not exist', { $ref: '#/%E0%A4%A' }],
  ['a $ref to #name', { $ref: '#name' }],
  ['https://example.org', { $ref: 'https://example.org/x.json' }],
  ['/type is text', { type: 'text' }],
  [
    'its minimum length is greater than its maximum length',
    { type: 'string', minLength: 5, maxLength: 2 },
  ],
  [
    'its minimum number of items is greater than its maximum',
    { type: 'array', minItems: 3, maxItems: 1 },
  ],
  ['the property a is required, but not allowed', { properties: { a: false }, required: ['a'] }],
  [
    'the property b is required, but not allowed',
    { ...inA({}), unevaluatedProperties: false, not: { properties: { b: { type: 'integer' } } } },
  ],
  [
    '/then: pattern cannot be enforced',
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    { if: { type: 'string' }, then: { pattern: '\\b' }, else: {} },
  ],
  [
    '/dependentSchemas/a/properties/b: pattern',
    { dependentSchemas: { a: { properties: { b: string('\\b') } } } },
  ],
  ['an invalid length', { type: 'string', maxLength: -1 }],
  ['an invalid length', { type: 'string', maxLength: 1.5 }],
  ['enum, which is empty or not a list', { enum: [] }],
  ['anyOf, which is empty or not a list', { anyOf: [] }],
  ['type, which is empty or not a list', { type: [] }],
  ['required, which is empty or not a list', { ...inA({}), required: 'a' }],
  ['no type in common', { allOf: [{ type: 'string' }, { type: 'null' }] }],
  ['no value in common', { allOf: [{ const: 1 }, { const: 2 }] }],
  ['/properties/a: its parts have no type in common', inUse({ not: {} })],
  ['is not a schema', inA([])],
  ['refers to itself endlessly', { allOf: [{ $ref: '#' }, inA({})] }],
  ['refers to itself endlessly', { anyOf: [{ $ref: '#' }, { type: 'null' }] }],
  ['refers to itself endlessly', { not: { $ref: '#' } }],
  ['no value matches it', inUse({ $ref: '#' })],
])('a schema is refused with the reason: %s', (words, schema) => {
  const refusal = catchRefusal(schema)
  expect(refusal).toBeInstanceOf(SchemaError)
  expect(refusal).toMatchObject({ message: expect.stringContaining(words) })
})

function catchRefusal(schema: object): unknown {
  try {
    return jsonGrammar(schema)
  } catch (error) {
    return error
  }
}

const nested = (depth: number) =>
  countTo(depth).reduce<object>((inner) => inUse(inner), { type: 'null' })
const parts = (depth: number) =>
  countTo(depth).reduce<object>((inner) => ({ allOf: [inner] }), { type: 'null' })
const properties = (count: number, make: (index: number) => object) => ({
  type: 'object',
  properties: Object.fromEntries(countTo(count).map((index) => [`name_${index}`, make(index)])),
})

test.each<[string, string, object]>([
  ['nested deeply', 'nested more than 100 levels deep', nested(10_000)],
  ['made of many parts', 'nested too deeply', parts(10_000)],
  ['with a repeated group', 'pattern cannot be enforced', string('^(a{1,1000}){1,1000}$')],
  ['with an exponential pattern', 'pattern cannot be enforced', string('(a|b)*a(a|b){40}')],
  ['with an empty group', 'pattern cannot be enforced', string('^(){1000000000}$')],
  [
    'with deep groups',
    'nested more than 100 levels deep',
    string(`${'('.repeat(900)}a${')'.repeat(900)}`),
  ],
  [
    'with a long string that is not allowed',
    'not cannot be enforced: it needs too many states',
    { type: 'string', not: { const: 'ab'.repeat(500_000) } },
  ],
  ['with a long pattern', 'more than 10000 characters', string('a'.repeat(20_000))],
  ['with many properties of characters', 'too many steps', string('\\p{L}\\p{N}'.repeat(500))],
  [
    'with many large sets of characters',
    'pattern cannot be enforced: the whole schema takes too many steps to convert',
    string(
      `^[${countTo(4000)
        .map((n) => String.fromCodePoint(0x4e00 + 2 * n))
        .join('')}]{3000}$`,
    ),
  ],
  [
    'with a million required properties',
    'it is too large',
    { required: countTo(1_000_000).map(String) },
  ],
  [
    'with 50,000 names',
    'properties cannot be enforced',
    { propertyNames: { enum: countTo(50_000).map(String) } },
  ],
  [
    'with 1,000 alternatives of oneOf',
    'oneOf cannot be enforced: the whole schema takes too many steps to convert',
    { oneOf: countTo(1000).map((n) => inUse({ const: n })) },
  ],
  [
    'with 10,000 properties',
    'properties cannot be enforced: more than 1500 of them are optional',
    properties(10_000, () => ({})),
  ],
  [
    'with 5,000 alternatives',
    'more than 2000 alternatives in one place',
    { anyOf: countTo(5000).map((n) => ({ type: 'array', prefixItems: [{ const: n }] })) },
  ],
  [
    'with many large patterns',
    'it is too large',
    properties(500, (n) => string(`^[a-z]{900}${n}$`)),
  ],
  [
    'with many independent choices',
    'it is too large',
    { allOf: countTo(30).map((n) => ({ anyOf: [inA({ const: n }), inA({ type: 'null' })] })) },
  ],
  [
    'with many properties that require others',
    'it is too large',
    { dependentRequired: Object.fromEntries(countTo(30).map((n) => [`a${n}`, [`b${n}`]])) },
  ],
])('a schema %s is refused before its conversion takes long', (_, words, schema) => {
  expect(() => jsonGrammar(schema)).toThrow(words)
})

test('an enum of 50,000 values may exclude all but one of them', () => {
  const values = countTo(50_000)
  expect(jsonGrammar({ enum: values, not: { enum: values.slice(1) } })).toContain('::= "0"\n')
})

test('oneOf may have 300 alternatives that a property distinguishes', () => {
  expect(jsonGrammar({ oneOf: countTo(300).map((n) => inUse({ const: n })) })).toContain('"299"')
})

test('a schema may have 30 conditions on the same property', () => {
  const conditions = countTo(30).map((n) => ({
    if: { properties: { kind: { const: n } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: { properties: { [`p${n}`]: { type: 'null' } }, required: [`p${n}`] },
  }))
  const schema = {
    type: 'object',
    properties: { kind: { enum: countTo(30) } },
    required: ['kind'],
    allOf: conditions,
  }
  expect(jsonGrammar(schema)).toContain('p29')
})

test('50,000 listed strings are grouped, so that few alternatives are possible at the same time', () => {
  const grammar = jsonGrammar({ enum: countTo(50_000).map((n) => `value ${n}`) })
  expect(grammar.length).toBeLessThan(500_000)
})

test('a schema of 800 properties has a grammar of moderate size', () => {
  const kinds = [
    (n: number) => ({ type: 'string', maxLength: n + 1 }),
    (n: number) => ({ type: 'integer', minimum: n }),
    () => ({ type: 'string', format: 'email' }),
    () => ({ type: ['number', 'null'], minimum: 0.5 }),
  ]
  const schema = properties(800, (n) => kinds[n % kinds.length]?.(n) ?? {})
  expect(jsonGrammar(schema).length).toBeLessThan(150_000)
})

test.each([
  { type: 'string', maxLength: 100_000 },
  { type: 'string', pattern: '^a+$', maxLength: 2 ** 60 },
  { type: 'string', minLength: 100_000 },
  { type: 'array', maxItems: 1e300 },
  { type: 'array', contains: { const: 1 }, maxContains: 100_000 },
  { type: 'object', additionalProperties: { const: 1 }, maxProperties: 100_000 },
])('lengths of more than 50,000 are not enforced: %j', (schema) => {
  const unbounded = Object.entries(schema).filter(([keyword]) => !/^(min|max)/.test(keyword))
  expect(jsonGrammar(schema)).toBe(jsonGrammar(Object.fromEntries(unbounded)))
})
