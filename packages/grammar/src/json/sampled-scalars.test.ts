/** Generates values from the grammars of strings, numbers and enums, and checks them with a validator. */
import { test } from 'vitest'
import { expectAgreement, type SchemaExample } from '../testing/schema-example.ts'
import { jsonGrammar } from './json-grammar.ts'

const string = (keywords: object) => ({ type: 'string', ...keywords })
const number = (keywords: object) => ({ type: 'number', ...keywords })
const integer = (keywords: object) => ({ type: 'integer', ...keywords })

const manyTexts = [...Array.from({ length: 300 }, (_, index) => `item ${index * 3}`), 'é😀', 'é😁"']

const examples: Record<string, SchemaExample> = {
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
  'a pattern with length limits': {
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
  'an enum of many values': {
    schema: { enum: [...manyTexts, '', 'item', 12, 123, { a: 1 }, null] },
    good: ['', 'item', 'item 0', 'item 102', 'é😀', 'é😁"', 12, 123, { a: 1 }, null],
    bad: ['item ', 'item 1', 'é', 1, {}],
  },
  'strings that are prefixes of each other': {
    schema: { enum: Array.from({ length: 100 }, (_, index) => 'a'.repeat(index)) },
    good: ['', 'a'.repeat(99)],
    bad: ['a'.repeat(100)],
  },
  'a string that is not in an enum': {
    schema: string({ not: { enum: ['a', 'ab'] }, maxLength: 3 }),
    good: ['', 'b', 'aa', 'abc'],
    bad: ['a', 'ab'],
  },
  'a string that is not in a long enum': {
    schema: string({ not: { enum: [...manyTexts, '\ud800'] } }),
    good: ['', 'item 1', 'item 102x', 'é'],
    bad: ['item 102', 'item 9', 'é😀'],
  },
  'a string that does not match a pattern': {
    schema: string({ not: { pattern: '^a' } }),
    good: ['b', ''],
    bad: ['ab'],
  },
  'excluded types': {
    schema: { not: { type: ['string', 'integer'] } },
    good: [1.5, null],
    bad: ['', 1],
  },
  'excluded null': {
    schema: { type: ['null', 'integer'], not: { const: null } },
    good: [1],
    bad: [null],
  },
  'an excluded boolean': {
    schema: { type: ['boolean', 'null'], not: { enum: [true, {}] } },
    good: [false, null],
    bad: [true],
  },
  'an excluded number within a range': {
    schema: integer({ minimum: 0, maximum: 9, not: { const: 5 } }),
    good: [4, 6],
    bad: [5, 10],
  },
}

test.each(Object.entries(examples))('the grammar agrees with the validator: %s', (_, example) => {
  expectAgreement(jsonGrammar(example.schema), example)
})
