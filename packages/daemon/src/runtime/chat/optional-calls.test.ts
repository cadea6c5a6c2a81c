import { callGrammar } from '@shoal/grammar'
import {
  type Gbnf,
  matchesGbnf,
  parseGbnf,
  randomNumbers,
  textGenerator,
} from '@shoal/grammar/testing'
import { Compile } from 'typebox/schema'
import { expect, test } from 'vitest'
import { args, callTemplates, name as nameMark, template } from '../../testing/call-templates.ts'
import { joinCalls } from '../../testing/generations.ts'
import { promptsOf } from '../../testing/prompts-of.ts'
import type { Chat, Tool } from '../runtime.ts'
import { answerParser } from './answer-parser.ts'
import { optionalCalls } from './chat-prompt.ts'
import type { AnswerFormat } from './formats/answer-format.ts'

const box = {
  type: 'object',
  properties: { width: { type: 'number' } },
  required: ['width'],
  additionalProperties: false,
}
const parameters = {
  type: 'object',
  properties: {
    place: { type: 'string' },
    days: { type: 'integer', minimum: 1, maximum: 9 },
    unit: { enum: ['km', 'nm'] },
    code: { type: 'string', pattern: '^[A-Z]{2}\\d$' },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
    box: { $ref: '#/$defs/box' },
    isExact: { type: 'boolean' },
  },
  required: ['place', 'unit'],
  additionalProperties: false,
  $defs: { box },
}
const nothing = { type: 'object', properties: {}, additionalProperties: false }
const makeTool = (name: string, schema: object): Tool => ({
  type: 'function',
  function: { name, parameters: schema },
})
const tools = [makeTool('forecast', parameters), makeTool('tide.table', nothing)]
const schemas: Record<string, ReturnType<typeof Compile>> = {
  forecast: Compile(parameters),
  'tide.table': Compile(nothing),
}

const makeChat = (parts: Partial<Chat> = {}): Chat => ({
  messages: [],
  tools,
  toolChoice: 'auto',
  variables: {},
  ...parts,
})

function grammarFor(format: AnswerFormat, chat = makeChat()): Gbnf {
  const calls = optionalCalls(chat, format)
  if (!calls) throw new Error('there is no grammar')
  return parseGbnf(callGrammar(calls))
}

/** Parses an answer character by character. In the result, `body` is the part to which a grammar would apply. */
function follow(format: AnswerFormat, answer: string) {
  const parser = answerParser(format, { tools })
  let body: string | undefined
  const pieces = [...answer].flatMap((char) => {
    if (parser.callPlace() === 'before') body ??= ''
    if (parser.callPlace() !== 'elsewhere' && body !== undefined) body += char
    return parser.take(char)
  })
  return { pieces: [...pieces, ...parser.finish()], body }
}

const harmony =
  '{# <|start|><|message|> #}{{ tools }}{% for m in messages %}{{ m.content }}{% endfor %}'

const formats: [name: string, source: string][] = [
  ...callTemplates.map(([name, source]): [string, string] => [name, source]),
  [
    'JSON in tags after white space',
    template(`<call>{"name": "${nameMark}", "arguments": ${args}}</call>`, { before: '\n\n' }),
  ],
  ['messages with headers', harmony],
]

/** The grammars of these formats allow any value within lists and objects. */
const nestedFormats = ["Gemma's literals", 'tags with the names of the parameters']
/** The format whose opening markers may also be part of ordinary text. */
const unmarked = 'JSON in a fence'

test.each(formats.filter(([name]) => name !== unmarked))(
  "the grammar for optional calls allows only calls that match the tool's schema: %s",
  async (name, source) => {
    const { format } = await promptsOf(source)
    const generate = textGenerator(grammarFor(format), randomNumbers(1))
    const [before, after] = format.hasMessages
      ? ['<|start|>assistant to=', '<|call|>']
      : [format.calls.opens.join(''), format.calls.closes.join('')]
    for (let count = 0; count < 100; count += 1) {
      const generated = generate()
      const { pieces, body } = follow(format, before + generated + after)
      expect(body?.startsWith(generated)).toBe(true)
      expect(pieces.map(({ text = '' }) => text).join('')).toBe('')
      const calls = joinCalls(pieces)
      expect(calls).not.toEqual([])
      for (const call of calls) {
        const values = JSON.parse(call.arguments)
        if (nestedFormats.includes(name)) for (const one of ['box', 'tags']) delete values[one]
        const isValid = schemas[call.name]?.Check(values)
        expect({ isValid, generated }).toEqual({ isValid: true, generated })
      }
    }
  },
)

const sourceOf = (wanted: string) => formats.find(([name]) => name === wanted)?.[1] ?? ''

test.each([
  [
    'JSON in tags, several times',
    '{"name": "forecast", "arguments": {"place": "", "unit": "km"}}',
    '',
  ],
  ['JSON in tags, several times', '', '{"name": "storm", "arguments": {}}'],
  ['JSON in tags, several times', '', '{"name": "forecast", "arguments": {"place": ""}}'],
  ['names and JSON', 'tide.table[ID]a9[ARGS]{}', 'tide.table{}'],
  [
    'names with a prefix and an index, in a section',
    'functions.tide.table:3<|args|>{}',
    'tide.table:3<|args|>{}',
  ],
  [
    'a tag for each parameter, with line feeds',
    'forecast>\n<parameter=unit>\nkm\n</parameter>\n<parameter=place>\nx\n</parameter>\n</function>',
    'forecast>\n<parameter=unit>\nkg\n</parameter>\n<parameter=place>\nx\n</parameter>\n</function>',
  ],
  [
    'a tag for each parameter, with line feeds',
    'forecast><parameter=place>\n<![CDATA[</parameter>]]>\n</parameter><parameter=unit>\nkm\n</parameter></function>',
    'forecast><parameter=place>\nx\n</parameter></function>',
  ],
  [
    'Python',
    '[forecast(place="x", unit="km", isExact=True)]',
    '[forecast(place="x", unit="km", days=10)]',
  ],
  [
    "Gemma's literals",
    'forecast{place:<|"|>x<|"|>,unit:<|"|>km<|"|>,code:<|"|>AB1<|"|>}',
    'forecast{place:<|"|>x<|"|>,unit:<|"|>km<|"|>,code:<|"|>A<|"|>}',
  ],
  [
    'messages with headers',
    'functions.tide.table <|constrain|>json<|message|>{}',
    'functions.tide.table<|message|>{"a": 1}',
  ],
])('%s: the grammar allows %j and not %j', async (name, allowed, refused) => {
  const { format } = await promptsOf(sourceOf(name))
  const grammar = grammarFor(format)
  if (allowed !== '') expect(matchesGbnf(grammar, allowed)).toBe(true)
  if (refused !== '') expect(matchesGbnf(grammar, refused)).toBe(false)
})

test.each<[string, string, Partial<Chat>]>([
  ['the opening markers may be part of a text', unmarked, {}],
  ['no tool is declared', 'names and JSON', { tools: [] }],
  ['no tool may be called', 'names and JSON', { toolChoice: 'none' }],
  ['a tool must be called', 'names and JSON', { toolChoice: 'required' }],
])('there is no grammar for optional calls if %s', async (_, name, parts) => {
  const { format } = await promptsOf(sourceOf(name))
  expect(optionalCalls(makeChat(parts), format)).toBeUndefined()
})

test.each([
  ['additionalProperties cannot be enforced', { additionalProperties: { type: 'string' } }],
  ['the number of arguments cannot be enforced', { minProperties: 1 }],
  ['a choice between several lists of arguments cannot be enforced', { anyOf: [box, nothing] }],
])('in tags, the arguments must not depend on each other: %s', async (message, keywords) => {
  const { format } = await promptsOf(sourceOf('a tag for each parameter, with line feeds'))
  const tool = makeTool('storm', { type: 'object', properties: { a: {}, b: {} }, ...keywords })
  expect(() => grammarFor(format, makeChat({ tools: [tool] }))).toThrow(message)
})

test('many parameters must be in the order of the schema', async () => {
  const { format } = await promptsOf(sourceOf('tags for names and values'))
  const names = Array.from({ length: 20 }, (_, index) => `p${index}`)
  const properties = Object.fromEntries(names.map((one) => [one, { type: 'integer' }]))
  const tool = makeTool('storm', { type: 'object', properties })
  const grammar = grammarFor(format, makeChat({ tools: [tool] }))
  const write = (one: string) => `<k>${one}</k>\n<v>1</v>`
  expect(matchesGbnf(grammar, `storm${['p2', 'p9'].map(write).join('')}</tool>`)).toBe(true)
  expect(matchesGbnf(grammar, `storm${['p9', 'p2'].map(write).join('')}</tool>`)).toBe(false)
})
