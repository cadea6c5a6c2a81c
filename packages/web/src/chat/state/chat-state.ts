import type { ChatFailure, Conversation } from '../conversation/conversation.ts'
import type { Entry } from '../history/history.ts'
import type { LocalModel } from './local-models.ts'

export type Running = {
  answerId: string
  model: string
  /** When the queued request will be retried, in milliseconds since 1970; undefined if the request is not queued. */
  queuedUntil: number | undefined
}

export type ChatState = {
  /** The installed models; undefined until the daemon has responded. */
  models: readonly LocalModel[] | undefined
  modelsFault: ChatFailure | undefined
  /**
   * The error message if the daemon has rejected a request because of a missing or invalid API key; otherwise
   * undefined.
   */
  keyWanted: string | undefined
  entries: readonly Entry[]
  /** Why chats cannot be saved or listed; undefined if they can. */
  historyFault: string | undefined
  conversation: Conversation
  running: Running | undefined
  /** The announcement for screen readers. */
  said: string
}

/** Returns the conversation's model if it is still installed; otherwise, the first installed model. */
export function chosenModel({ models, conversation }: ChatState): string | undefined {
  const chosen = models?.find(({ id }) => id === conversation.model)
  return (chosen ?? models?.[0])?.id
}
