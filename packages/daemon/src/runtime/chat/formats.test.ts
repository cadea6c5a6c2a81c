import { expect, test } from 'vitest'
import {
  args,
  bothCalls,
  callTemplates,
  each,
  name,
  template,
  thinking,
} from '../../testing/call-templates.ts'
import { joinCalls } from '../../testing/generations.ts'
import { promptsOf } from '../../testing/prompts-of.ts'
import type { Tool } from '../runtime.ts'
import { type AnswerParser, answerParser } from './answer-parser.ts'

const parameters = {
  type: 'object',
  properties: {
    place: { type: 'string' },
    days: { type: 'integer' },
    unit: { enum: ['km', 'nm'] },
    note: { type: ['string', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    box: { $ref: '#/$defs/box' },
  },
  $defs: { box: { type: 'object', properties: { width: { type: 'number' } } } },
}
const tools: Tool[] = ['forecast', 'tide.table'].map((name) => ({
  type: 'function',
  function: { name, parameters },
}))

/** Parses an answer at once and character by character. The two results must be equal. */
async function parse(source: string, answer: string) {
  const { format } = await promptsOf(source)
  const parseParts = (parts: string[]) => {
    const parser = answerParser(format, { tools })
    return join([...parts.flatMap((part) => parser.take(part)), ...parser.finish()])
  }
  const whole = parseParts([answer])
  expect(parseParts([...answer])).toEqual(whole)
  return whole
}

function join(pieces: ReturnType<AnswerParser['take']>) {
  const text = pieces.map((piece) => piece.text ?? '').join('')
  const reasoning = pieces.map((piece) => piece.reasoning ?? '').join('')
  return {
    text,
    reasoning,
    calls: joinCalls(pieces).map((call) => [call.name, toValue(call.arguments)]),
  }
}

function toValue(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json // the call was cut off
  }
}

test.each(callTemplates)(
  'calls are found in the format that the template prints: %s',
  async (_, source, answer) => {
    expect(await parse(source, answer)).toEqual({ text: '', reasoning: '', calls: bothCalls })
    expect(await parse(source, `I look.${answer}\n`)).toEqual({
      text: 'I look.',
      reasoning: '',
      calls: bothCalls,
    })
  },
)

const inTags = template(
  `\n<tool>\n<function=${name}>\n${each('<parameter={{ k }}>\n{{ v }}\n</parameter>\n')}</function>\n</tool>`,
  { reasoning: thinking },
)
const inPython = template(`${name}(${each('{{ k }}={{ v | tojson }}, ')})`, {
  before: '<|py|>[',
  after: ']<|/py|>',
})

const parameter = (key: string, value: string) =>
  `<tool>\n<function=forecast>\n<parameter=${key}>\n${value}\n</parameter>\n</function>\n</tool>`

test.each([
  ['place', '12', '12'],
  ['place', '  <b>\n', '  <b>\n'],
  ['place', '', ''],
  ['days', '12', 12],
  ['days', 'many', 'many'],
  ['unit', 'km', 'km'],
  ['note', 'null', null],
  ['note', '5', '5'],
  ['tags', '["a", "b"]', ['a', 'b']],
  ['box', '{"width": 1.5}', { width: 1.5 }],
  ['undeclared', 'true', true],
  ['undeclared', 'text', 'text'],
])(
  "the value of a parameter has the type of the tool's schema: %s %j",
  async (key, text, value) => {
    expect((await parse(inTags, parameter(key, text))).calls).toEqual([
      ['forecast', { [key]: value }],
    ])
  },
)

test("nested tags are parsed as objects and lists if the tool's schema declares them", async () => {
  const source = template(
    `<tool>\n<invoke name="${name}">${each('<{{ k }}>{{ v }}</{{ k }}>')}</invoke>\n</tool>`,
  )
  const answer =
    '<tool>\n<invoke name="forecast"><tags><item>1</item><item>b</item></tags><box><width>1.5</width></box><place><i>x</i></place></invoke>\n</tool>'
  expect((await parse(source, answer)).calls).toEqual([
    ['forecast', { tags: ['1', 'b'], box: { width: 1.5 }, place: '<i>x</i>' }],
  ])
})

test("Python's strings and values are converted", async () => {
  const values = String.raw`place='it\'s\t\x41\u00e9\q', note=None, tags=["a", "", """b"c"""], box={'width': 1.5, "ok": True}`
  expect((await parse(inPython, `<|py|>[forecast(${values})]<|/py|>`)).calls).toEqual([
    [
      'forecast',
      { place: "it's\tAé\\q", note: null, tags: ['a', '', 'b"c'], box: { width: 1.5, ok: true } },
    ],
  ])
})

test('a call with several opening markers ends reasoning, and text that only resembles a call does not', async () => {
  const answer = `<think>I call <tool> now.\n${parameter('place', 'Kiel')}`
  expect(await parse(inTags, answer)).toEqual({
    text: '',
    reasoning: 'I call <tool> now.',
    calls: [['forecast', { place: 'Kiel' }]],
  })
})

test('a call that is cut off has the arguments so far', async () => {
  expect((await parse(inTags, parameter('place', 'Kiel').slice(0, -34))).calls).toEqual([
    ['forecast', '{"place": "Kie'],
  ])
})

test('text for the user may be enclosed in markers', async () => {
  const source = template(`<call>{"name": "${name}", "arguments": ${args}}</call>`).replace(
    '{{ m.content }}',
    "{% if m.role == 'assistant' and m.content %}<|say|>{{ m.content }}<|/say|>{% else %}{{ m.content }}{% endif %}",
  )
  expect(await parse(source, '<|say|>Hello.<|/say|> dropped')).toMatchObject({ text: 'Hello.' })
  const answer = '<|say|>I look.<|/say|><call>{"name": "forecast", "arguments": {}}</call>'
  expect(await parse(source, answer)).toMatchObject({ text: 'I look.', calls: [['forecast', {}]] })
})

const marked = [
  ['<|tool_call_start|>', "<|tool_call_start|>[forecast(place='x')]<|tool_call_end|>"],
  ['[TOOL_CALLS]', '[TOOL_CALLS]forecast[ARGS]{"place": "x"}'],
  ['<|python_tag|>', '{"name": "forecast", "parameters": {"place": "x"}}'],
  ['', '<tool_call>{"name": "forecast", "arguments": {"place": "x"}}</tool_call>'],
] as const

test.each(marked)(
  'if a template prints no calls, its text determines the format: %s',
  async (mark, answer) => {
    const source = `{# ${mark} #}{{ tools }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}`
    expect(await parse(source, answer)).toEqual({
      text: '',
      reasoning: '',
      calls: [['forecast', { place: 'x' }]],
    })
  },
)

test.each([
  ['text', inTags, 'word '.repeat(20_000)],
  ['a string', inTags, parameter('place', 'word '.repeat(20_000))],
  ['a list', inTags, parameter('tags', `[${'"word", '.repeat(12_000)}""]`)],
  ['unfinished calls', inTags, '<tool>\n<function=fore'.repeat(5000)],
  ['lists in lists', inPython, `<|py|>[forecast(tags=${'['.repeat(100_000)}`],
  ['strings in a list', inPython, `<|py|>[forecast(tags=[${"'a',".repeat(25_000)}])]`],
])('the time to parse an answer is proportional to its length: %s', async (_, source, answer) => {
  const { format } = await promptsOf(source)
  for (const step of [4, answer.length]) {
    const parser = answerParser(format, { tools })
    const startedAt = process.threadCpuUsage()
    for (let place = 0; place < answer.length; place += step) {
      parser.take(answer.slice(place, place + step))
    }
    parser.finish()
    const { user, system } = process.threadCpuUsage(startedAt)
    expect((user + system) / 1e6).toBeLessThan(2) // seconds of processor time
  }
})
