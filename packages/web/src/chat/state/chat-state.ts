import type { ChatFailure, Conversation } from '../conversation/conversation.ts'
import type { Entry } from '../history/history.ts'
import type { LocalModel } from './local-models.ts'

export type Running = {
  answerId: string
  model: string
  /** When the queued request is retried, as `Date.now()`; undefined if it is not queued. */
  queuedUntil: number | undefined
}

export type ChatState = {
  /** Undefined until the daemon has answered. */
  models: readonly LocalModel[] | undefined
  modelsFault: ChatFailure | undefined
  /** Why the daemon requires an API key; undefined if it does not. */
  keyWanted: string | undefined
  entries: readonly Entry[]
  /** Why chats cannot be saved. */
  historyFault: string | undefined
  conversation: Conversation
  running: Running | undefined
  /** The announcement for screen readers. */
  said: string
}

/** The model of the conversation if it is still installed, otherwise the first one. */
export function chosenModel({ models, conversation }: ChatState): string | undefined {
  const chosen = models?.find(({ id }) => id === conversation.model)
  return (chosen ?? models?.[0])?.id
}
