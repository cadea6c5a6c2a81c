/** How a model writes reasoning and tool calls, derived from its chat template. */

import { harmonyMarks } from './harmony-parser.ts'
import { jsonValue } from './json-value.ts'

export type AnswerFormat = {
  /** The marks around its reasoning. */
  reasoning: { open: string; close: string } | undefined
  calls: CallSyntax
  /** Whether the template itself describes the tools to the model. */
  hasTools: boolean
  /** Whether an answer consists of several messages with headers, like those of gpt-oss. */
  isHarmony: boolean
}

export type ParsedCall = { name: string; arguments: string }

export type CallSyntax = {
  /** The start of a call. Empty if a call is the whole answer, from its first brace on. */
  open: string
  /** The end of a call; undefined if it extends to the end of the answer. */
  close: string | undefined
  /** Other marks within a call. */
  inner: string[]
  /** Members of the JSON object, if a call can be written as one. */
  argumentsKey: 'arguments' | 'parameters'
  /** Parses the calls between these marks; undefined if the text is not a call. */
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

/** Qwen, Hermes and many others; also what models are asked to write if their template does not support tools. */
export const tagged: CallSyntax = {
  open: '<tool_call>',
  close: '</tool_call>',
  inner: [],
  argumentsKey: 'arguments',
  parse: (body) => jsonCalls(body) ?? xmlCalls(body),
}

/** Mistral: a list of objects or, in newer models, a name and its arguments. */
const mistral: CallSyntax = {
  open: '[TOOL_CALLS]',
  close: undefined,
  inner: ['[ARGS]', '[CALL_ID]'],
  argumentsKey: 'arguments',
  parse: (body) => jsonCalls(body) ?? argsCalls(body),
}

/** Llama 3: an object is the whole answer. */
const bare: CallSyntax = {
  open: '',
  close: undefined,
  inner: ['<|python_tag|>'],
  argumentsKey: 'parameters',
  parse: (body) => jsonCalls(body.replace(/^<\|python_tag\|>/, '')),
}

/** gpt-oss, for a forced call; otherwise `harmonyParser` parses it. */
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

/** One object, or a list of them, and nothing after it. */
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
