/** The format in which a model writes reasoning and tool calls, derived from its chat template. */

import { harmonyMarks } from './harmony-parser.ts'
import { jsonValue } from './json-value.ts'

export type AnswerFormat = {
  /** The markers around the model's reasoning. */
  reasoning: { open: string; close: string } | undefined
  calls: CallSyntax
  /** Whether the template itself describes the tools to the model. */
  hasTools: boolean
  /** Whether an answer consists of several messages with headers, like those of gpt-oss. */
  isHarmony: boolean
}

export type ParsedCall = { name: string; arguments: string }

export type CallSyntax = {
  /** The start marker of a call. Empty if the call is the entire answer, which then begins with a brace. */
  open: string
  /** The end marker of a call; undefined if the call extends to the end of the answer. */
  close: string | undefined
  /** Other markers within a call. */
  inner: string[]
  /** The member that contains the arguments, if a call can be written as a JSON object. */
  argumentsKey: 'arguments' | 'parameters'
  /** Parses the calls between the start and end markers; undefined if the text is not a call. */
  parse(body: string): ParsedCall[] | undefined
}

export function detectAnswerFormat(template: string | undefined): AnswerFormat {
  const text = template ?? ''
  return {
    reasoning: reasonings.find(({ open, close }) => text.includes(open) || text.includes(close)),
    calls: detectCallSyntax(text),
    hasTools: /\btools\b/.test(text),
    isHarmony: text.includes(harmonyMarks.channel),
  }
}

const reasonings = [
  { open: '<think>', close: '</think>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<seed:think>', close: '</seed:think>' },
]

/** The format of Qwen, Hermes and many others. Models whose templates do not support tools are asked to use it too. */
export const tagged: CallSyntax = {
  open: '<tool_call>',
  close: '</tool_call>',
  inner: [],
  argumentsKey: 'arguments',
  parse: (body) => jsonCalls(body) ?? xmlCalls(body),
}

/** The format of Mistral: a list of objects or, in newer models, a name and its arguments. */
const mistral: CallSyntax = {
  open: '[TOOL_CALLS]',
  close: undefined,
  inner: ['[ARGS]', '[CALL_ID]'],
  argumentsKey: 'arguments',
  parse: (body) => jsonCalls(body) ?? argsCalls(body),
}

/** The format of Llama 3: the entire answer is an object. */
const bare: CallSyntax = {
  open: '',
  close: undefined,
  inner: ['<|python_tag|>'],
  argumentsKey: 'parameters',
  parse: (body) => jsonCalls(body.replace(/^<\|python_tag\|>/, '')),
}

/** The format of gpt-oss, used only for a forced call. `harmonyParser` parses all other answers. */
const harmony: CallSyntax = {
  open: `${harmonyMarks.channel}commentary ${harmonyMarks.constrain}json${harmonyMarks.message}`,
  close: undefined,
  inner: Object.values(harmonyMarks),
  argumentsKey: 'arguments',
  parse: jsonCalls,
}

function detectCallSyntax(template: string): CallSyntax {
  if (template.includes(harmonyMarks.channel)) return harmony
  if (template.includes('[TOOL_CALLS]')) return mistral
  if (!template.includes('<tool_call>') && /"parameters":|python_tag/.test(template)) return bare
  return tagged
}

/** Parses one object, or a list of objects, with nothing after it. */
function jsonCalls(body: string): ParsedCall[] | undefined {
  const values = jsonValue(body)
  const calls = [values].flat().map(toParsedCall)
  return calls.every((call) => call !== undefined) && calls.length > 0 ? calls : undefined
}

function toParsedCall(value: unknown): ParsedCall | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { name, arguments: given, parameters } = value as Record<string, unknown>
  const args = given ?? parameters ?? {}
  const meant = typeof args === 'string' ? jsonValue(args) : args
  const isObject = typeof meant === 'object' && meant !== null && !Array.isArray(meant)
  if (typeof name !== 'string' || name === '' || !isObject) return undefined
  return { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }
}

/** `name[ARGS]{…}`, one after the other. */
function argsCalls(body: string): ParsedCall[] | undefined {
  const parts = body
    .split('[TOOL_CALLS]')
    .map((part) => /^\s*([\w.-]+)\s*(?:\[CALL_ID\]\w*)?\[ARGS\]([\s\S]*)$/.exec(part))
  const calls = parts.map((part) => {
    const [, name = '', args = ''] = part ?? []
    return jsonValue(args) === undefined ? undefined : { name, arguments: args.trim() }
  })
  return calls.every((call) => call !== undefined) ? calls : undefined
}

/** `<function=name><parameter=key>value</parameter></function>`, as in Qwen's coding models. */
function xmlCalls(body: string): ParsedCall[] | undefined {
  const [, name, inner = ''] = /^\s*<function=([^>\n]+)>([\s\S]*?)<\/function>\s*$/.exec(body) ?? []
  if (!name) return undefined
  const pairs = inner.matchAll(/<parameter=([^>\n]+)>\n?([\s\S]*?)\n?<\/parameter>/g)
  const args = Array.from(pairs, ([, key = '', value = '']) => [key, jsonValue(value) ?? value])
  return [{ name, arguments: JSON.stringify(Object.fromEntries(args)) }]
}
