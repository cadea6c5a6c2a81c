/** Conversations, and the part of them sent to the model. */
import type { ChatMessage, ChatRequest } from '@shoal/protocol/inference-client'

export type Settings = {
  system: string
  temperature?: number
  topP?: number
  maxTokens?: number
  seed?: number
}

/** Undefined values are reset to the default. */
export type SomeSettings = { [Name in keyof Settings]?: Settings[Name] | undefined }

export type Question = { id: string; role: 'user'; content: string }

/** Why an answer ended. `cut`: token limit reached. `lost`: the page was closed. */
export type AnswerEnding = 'whole' | 'stopped' | 'cut' | 'lost' | 'failed'

export type ChatFailure = {
  title: string
  advice: string
  /** A command for a terminal. */
  command?: string
}

export type Answer = {
  id: string
  role: 'assistant'
  model: string
  content: string
  reasoning: string
  ending: AnswerEnding
  tokens?: number
  tokensPerSecond?: number
  fault?: ChatFailure
}

export type Message = Question | Answer

export type Conversation = {
  id: string
  /** The revision in the history; an older one means that another tab has changed it. 0 if it is not in the history yet. */
  revision: number
  title: string
  /** Undefined until one is chosen. */
  model: string | undefined
  settings: Settings
  messages: readonly Message[]
  changedAt: number
}

export const newId = () => [...crypto.getRandomValues(new Uint32Array(3))].join('-')

export function newConversation(model?: string, settings: Settings = { system: '' }): Conversation {
  return {
    id: `chat-${newId()}`,
    revision: 0,
    title: '',
    model,
    settings,
    messages: [],
    changedAt: Date.now(),
  }
}

const maxTitleLength = 60

export function titleFrom(question: string): string {
  const line = question.trim().replace(/\s+/g, ' ')
  if (line.length <= maxTitleLength) return line
  const short = line.slice(0, maxTitleLength)
  return `${short.slice(0, short.lastIndexOf(' ') + 1 || maxTitleLength).trim()}…`
}

/** The messages before this one. */
export function upTo(messages: readonly Message[], id: string): readonly Message[] {
  const index = messages.findIndex((message) => message.id === id)
  return index === -1 ? messages : messages.slice(0, index)
}

export function toChatRequest({ messages, settings }: Conversation, model: string): ChatRequest {
  const { system, temperature, topP, maxTokens, seed } = settings
  const rules: ChatMessage[] = system.trim() === '' ? [] : [{ role: 'system', content: system }]
  return {
    model,
    messages: [...rules, ...inTurns(messages)],
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(seed !== undefined && { seed }),
  }
}

/** Chat templates require alternating roles, so two questions without an answer in between are merged. */
function inTurns(messages: readonly Message[]): ChatMessage[] {
  const turns: ChatMessage[] = []
  for (const message of messages) {
    const { role } = message
    const content = message.role === 'user' ? message.content : thoughtAndSaid(message).said
    const last = turns.at(-1)
    if (content.trim() === '') continue
    if (last?.role === role) last.content += `\n\n${content}`
    else turns.push({ role, content })
  }
  return turns
}

/** Separates reasoning from the answer, even if the daemon could not. */
export function thoughtAndSaid({ content, reasoning }: Pick<Answer, 'content' | 'reasoning'>) {
  const marked = /^\s*<think>(.*?)(?:<\/think>(.*))?$/s.exec(content)
  if (reasoning !== '' || !marked) return { thought: reasoning, said: content }
  return { thought: marked[1]?.trim() ?? '', said: marked[2]?.trimStart() ?? '' }
}
