/** Conversations, and the requests to the model that are built from them. */
import type { ChatMessage, ChatRequest } from '@shoal/protocol/inference-client'

export type Settings = {
  system: string
  temperature?: number
  topP?: number
  maxTokens?: number
  seed?: number
}

/** Changes to the settings. A setting that is undefined is reset to its default. */
export type SomeSettings = { [Name in keyof Settings]?: Settings[Name] | undefined }

export type Question = { id: string; role: 'user'; content: string }

/**
 * How an answer ended: `whole` (it is complete), `stopped` (by the user), `cut` (the token limit was reached), `lost`
 * (the page was closed) or `failed`.
 */
export type AnswerEnding = 'whole' | 'stopped' | 'cut' | 'lost' | 'failed'

export type ChatFailure = {
  title: string
  advice: string
  /** A command to run in a terminal. */
  command?: string
  /** A model to pull. The page shows the pull command, which depends on the daemon's registry. */
  pull?: string
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
  /**
   * The conversation's revision in the history; 0 if the conversation is not in the history yet. If the history has a
   * different revision, another tab has changed the conversation.
   */
  revision: number
  title: string
  /** The ID of the model; undefined until a model is chosen. */
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

/** Returns the messages before the one with this ID, or all messages if there is no such message. */
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

/** Merges questions that have no answer between them, because chat templates require alternating roles. */
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

/**
 * Returns the reasoning and the answer. If the daemon has not separated them, splits `content` at its `<think>` tags.
 */
export function thoughtAndSaid({ content, reasoning }: Pick<Answer, 'content' | 'reasoning'>) {
  const marked = /^\s*<think>(.*?)(?:<\/think>(.*))?$/s.exec(content)
  if (reasoning !== '' || !marked) return { thought: reasoning, said: content }
  return { thought: marked[1]?.trim() ?? '', said: marked[2]?.trimStart() ?? '' }
}
