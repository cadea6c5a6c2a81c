/**
 * Checks answers that must match a JSON schema: with each template, the grammar must allow reasoning before the JSON, and
 * calls instead of the JSON, and the answers must be parsed correctly.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerGrammar } from '@shoal/grammar'
import { matchesGbnf, parseGbnf } from '@shoal/grammar/testing'
import { answerParser } from '../packages/daemon/src/runtime/chat/answer-parser.ts'
import { answerSyntax } from '../packages/daemon/src/runtime/chat/chat-prompt.ts'
import type { Chat } from '../packages/daemon/src/runtime/runtime.ts'
import { promptsOf } from '../packages/daemon/src/testing/prompts-of.ts'
import type { LlamaReference } from './llama-reference.ts'
import { type Answer, type Case, compare, joinPieces, toChat } from './score-cases.ts'

export type BoundResult = {
  template: string
  output: string
  kind: 'calls' | 'json'
  detail: string
}

const form = {
  schema: {
    type: 'object',
    properties: { harbor: { type: 'string' } },
    required: ['harbor'],
    additionalProperties: false,
  },
}
const json = '{"harbor": "Kiel"}'

export async function scoreBoundAnswers(reference: LlamaReference): Promise<BoundResult[]> {
  const cases = (await reference.read('cases')) as Case[]
  const results: BoundResult[] = []
  for (const test of cases) {
    const { output, expected, isForced, isPartial, isContinued, isReasoningParsed } = test
    const isPlain = !isForced && !isPartial && !isContinued && isReasoningParsed
    if (!isPlain || expected.calls.length === 0 || expected.content !== '') continue
    results.push(await check(reference.path, test, 'calls', () => ({ output, expected })))
  }
  for (const template of new Set(cases.map((test) => test.template))) {
    const test = cases.find((one) => one.template === template) as Case
    results.push(await check(reference.path, { ...test, isThinking: true }, 'json', thinkFirst))
  }
  return results
}

type Format = Awaited<ReturnType<typeof promptsOf>>['format']
type Checked = { output: string; expected: Answer }

/** An answer with reasoning, if the format has any, and JSON. */
function thinkFirst({ reasoning, content, hasMessages }: Format, begun: string): Checked {
  const expected = { content: json, reasoning: '', calls: [] }
  const isOver = reasoning && begun.includes(reasoning.close)
  const start = content && !begun.includes(content.open) ? content.begin : ''
  if (!reasoning || isOver || start !== (content?.begin ?? ''))
    return { output: start + json, expected }
  const open = begun.trimEnd().endsWith(reasoning.open) ? '' : reasoning.open
  const between = hasMessages ? '<|start|>assistant' : '\n\n'
  const { intro = '' } = reasoning
  const output = `${open}I know it.${reasoning.close}${between}${start}${json}`
  return { output, expected: { ...expected, reasoning: `${intro}${intro && '\n'}I know it.` } }
}

async function check(
  path: string,
  test: Case,
  kind: BoundResult['kind'],
  toAnswer: (format: Format, begun: string) => Checked,
): Promise<BoundResult> {
  const source = readFileSync(join(path, test.template), 'utf8')
  const { format, prompt } = await promptsOf(source)
  const chat: Chat = kind === 'calls' ? toChat(test) : { ...toChat(test), tools: [] }
  const { begun } = await prompt(chat, form)
  const { output, expected } = toAnswer(format, begun)
  const result = { template: test.template, output, kind }
  const syntax = answerSyntax(chat, format, { begun, form })
  if (syntax && !matchesGbnf(parseGbnf(answerGrammar(syntax)), output))
    return { ...result, detail: 'not allowed by the grammar' }
  const parser = answerParser(format, { tools: chat.tools, isBound: true })
  const pieces = [begun, ...output].flatMap((part) => parser.take(part))
  return { ...result, detail: compare(expected, joinPieces(pieces.concat(parser.finish()))).detail }
}
