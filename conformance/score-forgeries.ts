/**
 * Renders conversations whose values contain the template's own markers, such as `<|im_end|>`. None of these markers may
 * become a token, and the text of the prompt must be the same as without protection.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { forgedTokens } from '../packages/daemon/src/runtime/chat/forged-tokens.ts'
import { unshield } from '../packages/daemon/src/runtime/chat/jinja/shield.ts'
import { chatRenderer } from '../packages/daemon/src/runtime/chat/render-chat.ts'
import type { Chat, ChatMessage, ToolCall } from '../packages/daemon/src/runtime/runtime.ts'
import { promptsOf } from '../packages/daemon/src/testing/prompts-of.ts'
import type { Conversation } from './conversations.ts'
import { listRenderings, now, templateFolder } from './list-renderings.ts'
import type { LlamaReference } from './llama-reference.ts'

export type ForgeryResult = {
  template: string
  conversation: string
  /** The number of markers in the prompt that come from values. */
  found: number
  /** The number of these markers that would become tokens. */
  forged: number
  /** Describes the difference from the prompt without protection; empty if there is none. */
  detail: string
}

export async function scoreForgeries({ path }: LlamaReference): Promise<ForgeryResult[]> {
  const results: ForgeryResult[] = []
  for (const { template, conversation } of listRenderings(path)) {
    const source = readFileSync(join(path, templateFolder, template), 'utf8')
    const counts = await score(source, conversation)
    if (counts) results.push({ template, conversation: conversation.name, ...counts })
  }
  return results
}

/** Returns undefined if the template rejects the conversation. */
async function score(source: string, { messages, tools }: Conversation) {
  const markers = [...new Set(source.match(/<[^<>\s'"{}()=]{1,40}>|\[\/?[A-Za-z_]+\]/g))]
  const forgeries = markers.map((marker) => `(${marker})`)
  const forge = forger(forgeries)
  // Templates search the content of answers for reasoning, and print its markers themselves.
  const forgeAnswer = forger(forgeries.filter((forgery) => !forgery.includes('think')))
  const variables = { enable_thinking: true }
  const chat = {
    messages: messages.map((message) =>
      forgeMessage(message, message.role === 'assistant' ? forgeAnswer : forge),
    ),
    tools: forge(tools),
    toolChoice: 'auto' as const,
    variables,
  }
  const { prompt } = await promptsOf(source, { now })
  const shielded = await prompt(chat).then(
    ({ text }) => text,
    () => undefined,
  )
  if (shielded === undefined) return undefined
  const count = (texts: readonly string[]) =>
    texts.reduce((sum, text) => sum + countAny(text, forgeries), 0)
  const parts = forgedTokens(markers)(shielded)
  const text = unshield(shielded)
  const detail = /\btools\b/.test(source) ? difference(text, plain(source, chat)) : ''
  return { found: count([text]), forged: count(parts), detail }
}

/** Renders a chat without protection. */
function plain(
  source: string,
  { variables, ...chat }: Pick<Chat, 'messages' | 'tools' | 'variables'>,
) {
  const render = chatRenderer({ source, bos: '', eos: '' })
  return render({ ...chat, variables: { ...variables, add_generation_prompt: true } }, now)
}

const countAny = (text: string, parts: readonly string[]) =>
  parts.reduce((sum, part) => sum + text.split(part).length - 1, 0)

function difference(text: string, expected: string): string {
  if (text === expected) return ''
  let start = 0
  while (text[start] === expected[start]) start += 1
  const show = (one: string) => JSON.stringify(one.slice(Math.max(0, start - 20), start + 60))
  return `without protection ${show(expected)}, with protection ${show(text)}`
}

/** The members whose values templates compare with constants. */
const constants = ['role', 'type']

/** Returns a function that appends forgeries to each string in a JSON value, and to the names of arguments. */
function forger(forgeries: readonly string[]) {
  const forgery = ` ${forgeries.join(' ')} end`
  return function forge<T>(value: T, key = ''): T {
    if (typeof value === 'string') return (constants.includes(key) ? value : value + forgery) as T
    if (Array.isArray(value)) return value.map((one) => forge(one)) as T
    if (typeof value !== 'object' || value === null) return value
    const hasNames = key === 'properties' || key === 'arguments'
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        hasNames ? name + forgery : name,
        forge(member, name),
      ]),
    ) as T
  }
}

function forgeMessage(
  { tool_calls, ...message }: ChatMessage,
  forge: ReturnType<typeof forger>,
): ChatMessage {
  const forgeCall = ({ id, type, function: { name, arguments: args } }: ToolCall) => ({
    ...{ id: forge(id), type },
    function: {
      name: forge(name),
      arguments: JSON.stringify(forge(JSON.parse(args), 'arguments')),
    },
  })
  return { ...forge(message), ...(tool_calls && { tool_calls: tool_calls.map(forgeCall) }) }
}
