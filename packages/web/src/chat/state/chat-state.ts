import type { ChatFailure, Conversation } from '../conversation/conversation.ts'
import type { Entry } from '../history/history.ts'
import type { LocalModel } from './local-models.ts'

export type Running = {
  answerId: string
  model: string
  /** It waits for its turn until then, as `Date.now()` counts. */
  queuedUntil: number | undefined
}

export type ChatState = {
  /** Undefined until the daemon has answered. */
  models: readonly LocalModel[] | undefined
  modelsFault: ChatFailure | undefined
  /** Why the daemon's key is asked for. */
  keyWanted: string | undefined
  entries: readonly Entry[]
  /** Why nothing is kept. */
  historyFault: string | undefined
  conversation: Conversation
  running: Running | undefined
  /** For those who hear the page. */
  said: string
}

/** The conversation's where it is still here, else the best there is. */
export function chosenModel({ models, conversation }: ChatState): string | undefined {
  const chosen = models?.find(({ id }) => id === conversation.model)
  return (chosen ?? models?.[0])?.id
}
