/** Tests the JSON schemas that zod 4 generates from its types. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { runsSlowTests } from '../../../../testing/slow.ts'
import { parseGbnf } from '../matching/gbnf-parser.ts'
import { matchesGbnf, randomNumbers, textGenerator } from '../testing/gbnf.ts'
import { findInvalidTexts } from '../testing/invalid-texts.ts'
import { jsonGrammar } from './json-grammar.ts'

const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
})

/** The values generated for these types are also checked by zod itself. */
const constructs: Record<string, z.ZodType> = {
  string: z.string(),
  'string of a length': z.string().length(5),
  'string that is not empty': z.string().nonempty(),
  regex: z.string().regex(/^[a-z]+-\d{2}$/),
  'several regexes': z.string().regex(/a/).regex(/^b/),
  startsWith: z.string().startsWith('a.b').endsWith('c').includes('q'),
  lowercase: z.string().lowercase(),
  uppercase: z.string().uppercase(),
  email: z.email(),
  'email with lengths': z.email().min(8).max(30),
  'email, html5': z.email({ pattern: z.regexes.html5Email }),
  url: z.url(),
  uuid: z.uuid(),
  uuidv4: z.uuidv4(),
  uuidv7: z.uuidv7(),
  guid: z.guid(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidrv4: z.cidrv4(),
  cidrv6: z.cidrv6(),
  mac: z.mac(),
  hostname: z.hostname(),
  e164: z.e164(),
  cuid: z.cuid(),
  cuid2: z.cuid2(),
  ulid: z.ulid(),
  xid: z.xid(),
  ksuid: z.ksuid(),
  nanoid: z.nanoid(),
  hex: z.hex(),
  hash: z.hash('sha256'),
  base64: z.base64(),
  base64url: z.base64url(),
  jwt: z.jwt(),
  emoji: z.emoji(),
  'iso.date': z.iso.date(),
  'iso.time': z.iso.time(),
  'iso.datetime': z.iso.datetime(),
  'iso.datetime with offset': z.iso.datetime({ offset: true, local: true }),
  'iso.datetime with precision': z.iso.datetime({ precision: 6 }),
  'iso.duration': z.iso.duration(),
  templateLiteral: z.templateLiteral(['a-', z.number(), z.enum(['x', 'y'])]),
  number: z.number(),
  'number between': z.number().min(0.5).lt(3.25),
  positive: z.number().positive(),
  'multipleOf 0.01': z.number().multipleOf(0.01),
  int: z.int(),
  'multipleOf 5': z.int().multipleOf(5).min(0),
  int32: z.int32(),
  uint32: z.uint32(),
  float32: z.float32(),
  float64: z.float64(),
  boolean: z.boolean(),
  null: z.null(),
  any: z.any(),
  unknown: z.unknown(),
  json: z.json(),
  literal: z.literal(['a', 1, null, true]),
  enum: z.enum(['a', 'b']),
  array: z.array(z.string()).min(1).max(3),
  tuple: z.tuple([z.string(), z.number()]),
  'tuple with rest': z.tuple([z.string()], z.number()),
  object: z.object({ a: z.string(), b: z.number().optional(), c: z.boolean().nullish() }),
  strictObject: z.strictObject({ a: z.string() }),
  looseObject: z.looseObject({ a: z.number() }),
  catchall: z.object({ a: z.string() }).catchall(z.number()),
  default: z.object({ a: z.string().default('x'), b: z.string().catch('y') }),
  record: z.record(z.string(), z.number()),
  'record of an enum': z.record(z.enum(['a', 'b']), z.number()),
  partialRecord: z.partialRecord(z.enum(['a', 'b']), z.number()),
  'record of a pattern': z.record(z.string().regex(/^x/), z.number()),
  looseRecord: z.looseRecord(z.string().regex(/^x/), z.number()),
  'record of numbers': z.record(z.number(), z.string()),
  union: z.union([z.string(), z.int().min(3)]),
  xor: z.xor([z.string().min(3), z.string().max(5), z.number()]),
  discriminatedUnion: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), x: z.number() }),
    z.object({ kind: z.literal('b') }),
  ]),
  intersection: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
  'object that contains itself': tree,
  readonly: z.string().readonly(),
  brand: z.string().brand(),
}

test.each(Object.entries(constructs))('generated values are valid: %s', (_, construct) => {
  const schema = z.toJSONSchema(construct)
  const source = jsonGrammar(schema)
  expect(findInvalidTexts(schema, source)).toEqual([])
  const grammar = parseGbnf(source)
  const generate = textGenerator(grammar, randomNumbers(4))
  const texts = Array.from({ length: runsSlowTests ? 200 : 50 }, generate)
  expect(texts.filter((text) => !matchesGbnf(grammar, text))).toEqual([])
  expect(texts.filter((text) => !construct.safeParse(JSON.parse(text)).success)).toEqual([])
})

test('texts that no generator would find by chance are allowed', () => {
  const values: [z.ZodType, unknown][] = [
    [z.email(), 'ada.lovelace+note@mail.example.org'],
    [z.url(), 'https://example.org:8080/a/b?c=d&e=%20f#g'],
    [z.url(), 's3://bucket/key.gguf'],
    [z.ipv6(), '2001:db8::8a2e:370:7334'],
    [z.iso.datetime(), '2024-02-29T23:59:59.123Z'],
    [z.iso.duration(), 'P3DT4H30M'],
    [z.hostname(), 'a.b-c.example.org'],
    [z.emoji(), '👩‍👩‍👧'],
    [z.string().regex(/^[^\s"]+$/), 'naïve-ß'],
  ]
  for (const [construct, value] of values) {
    const grammar = parseGbnf(jsonGrammar(z.toJSONSchema(construct)))
    expect([value, matchesGbnf(grammar, JSON.stringify(value))]).toEqual([value, true])
  }
})

describe('a type that zod cannot express in JSON Schema, or that no value matches', () => {
  test('never is refused', () => {
    expect(() => jsonGrammar(z.toJSONSchema(z.never()))).toThrow('no type in common')
  })

  test.each<[string, z.ZodType]>([
    ['bigint', z.bigint()],
    ['date', z.date()],
    ['map', z.map(z.string(), z.number())],
    ['set', z.set(z.string())],
    ['symbol', z.symbol()],
    ['undefined', z.undefined()],
    ['nan', z.nan()],
    ['transform', z.string().transform((text) => text.length)],
  ])('%s is refused by zod itself', (_, construct) => {
    expect(() => z.toJSONSchema(construct)).toThrow('cannot be represented')
  })
})
