/** Parses the output cases of llama.cpp's tests, and compares the results with what those tests expect. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { callGrammar } from '@shoal/grammar'
import { openStacks, parseGbnf, type Stacks } from '@shoal/grammar/testing'
import { answerParser } from '../packages/daemon/src/runtime/chat/answer-parser.ts'
import { optionalCalls } from '../packages/daemon/src/runtime/chat/chat-prompt.ts'
import type { AnswerFormat } from '../packages/daemon/src/runtime/chat/formats/answer-format.ts'
import type { CallPlace } from '../packages/daemon/src/runtime/chat/formats/call-reader.ts'
import type {
  Chat,
  ChatMessage,
  Piece,
  Tool,
  ToolCall,
} from '../packages/daemon/src/runtime/runtime.ts'
import { promptsOf } from '../packages/daemon/src/testing/prompts-of.ts'
import type { LlamaReference } from './llama-reference.ts'

export type Answer = { content: string; reasoning: string; calls: ToolCall['function'][] }

/** A case, as `native/cases.cpp` prints it. */
export type Case = {
  template: string
  messages: ChatMessage[]
  tools: Tool[] | null
  /** A JSON schema for the answer, or an empty string. */
  schema: string
  isForced: boolean
  isThinking: boolean
  /** If false, reasoning stays in the content, with its markers. */
  isReasoningParsed: boolean
  /** Whether the last message is the beginning of the answer. */
  isContinued: boolean
  /** Whether the output is cut off. */
  isPartial: boolean
  output: string
  expected: Answer
}

export type CaseResult = {
  template: string
  output: string
  expectsCalls: boolean
  areCallsRight: boolean
  areTextsRight: boolean
  /**
   * Whether the grammar that constrains calls (`optionalCalls`) allows the calls in the output; undefined if there is
   * no grammar, or if no call begins where the grammar would start.
   */
  isGrammarRight: boolean | undefined
  /** The expected and the parsed answer; empty if they are equal. */
  detail: string
}

export async function scoreCases(reference: LlamaReference): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  const cases = (await reference.read('cases')) as Case[]
  for (const test of cases) results.push(await scoreCase(reference.path, test))
  return results
}

async function scoreCase(path: string, test: Case): Promise<CaseResult> {
  const { template, output, expected } = test
  const result = {
    template: basename(template),
    output,
    expectsCalls: expected.calls.length > 0,
  }
  try {
    const source = readFileSync(join(path, template), 'utf8')
    const { answer: whole } = await parse(source, test, [output])
    const { answer: streamed, isGrammarRight } = await parse(source, test, [...output])
    if (JSON.stringify(whole) !== JSON.stringify(streamed)) {
      throw new Error(`at once: ${JSON.stringify(whole)}; streamed: ${JSON.stringify(streamed)}`)
    }
    return { ...result, ...compare(expected, whole), isGrammarRight }
  } catch (error) {
    const detail = String(error)
    return {
      ...result,
      ...{ areCallsRight: false, areTextsRight: false, isGrammarRight: undefined, detail },
    }
  }
}

async function parse(
  source: string,
  test: Case,
  parts: string[],
): Promise<{ answer: Answer; isGrammarRight: boolean | undefined }> {
  const { isReasoningParsed } = test
  const chats = await promptsOf(source)
  const chat = toChat(test)
  const { begun } = await chats.prompt(chat)
  const parser = answerParser(chats.format, {
    tools: chat.tools,
    keepsReasoning: !isReasoningParsed,
  })
  const grammar = grammarFollower(chat, chats.format)
  const pieces = [begun, ...parts].flatMap((part) => {
    grammar.take(parser.callPlace(), part)
    return parser.take(part)
  })
  return {
    answer: joinPieces(pieces.concat(parser.finish())),
    isGrammarRight: grammar.isRight(),
  }
}

export const toChat = ({ messages, tools, isContinued, isThinking }: Case): Chat => ({
  messages: messages.map((message) => ({ ...message, content: message.content ?? '' })),
  tools: tools ?? [],
  toolChoice: 'auto',
  isContinued,
  variables: { enable_thinking: isThinking },
})

/** Checks the text of calls piece by piece against their grammar, as the daemon does with tokens. */
function grammarFollower(chat: Chat, format: AnswerFormat) {
  const calls = optionalCalls(chat, format)
  const grammar = calls && parseGbnf(callGrammar(calls))
  let stacks: Stacks | undefined
  let isRight: boolean | undefined
  return {
    take(place: CallPlace, text: string) {
      if (place === 'before' && grammar) stacks ??= openStacks(grammar)
      else if (place === 'elsewhere') stacks = undefined
      if (stacks) isRight = (isRight ?? true) && stacks.take(text)
    },
    isRight: () => isRight,
  }
}

export function joinPieces(pieces: readonly Piece[]): Answer {
  const answer: Answer = { content: '', reasoning: '', calls: [] }
  for (const { text = '', reasoning = '', toolCall, argumentsDelta = '' } of pieces) {
    answer.content += text
    answer.reasoning += reasoning
    if (toolCall) answer.calls.push({ ...toolCall })
    const last = answer.calls.at(-1)
    if (last) last.arguments += argumentsDelta
  }
  return answer
}

export function compare(expected: Answer, parsed: Answer) {
  const areCallsRight =
    JSON.stringify(expected.calls.map(normalize)) === JSON.stringify(parsed.calls.map(normalize))
  const areTextsRight =
    expected.content === parsed.content && expected.reasoning === parsed.reasoning
  const detail =
    areCallsRight && areTextsRight
      ? ''
      : `expected ${JSON.stringify(expected)}, parsed ${JSON.stringify(parsed)}`
  return { areCallsRight, areTextsRight, detail }
}

/** Removes what the comparison ignores: whitespace in arguments, and IDs, which shoal generates itself. */
function normalize({ name, arguments: text }: ToolCall['function']) {
  try {
    return { name, arguments: JSON.stringify(JSON.parse(text)) }
  } catch {
    return { name, arguments: text } // the answer was cut off
  }
}
