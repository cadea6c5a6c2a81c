import type { InferenceClient } from '@shoal/protocol/inference-client'
import {
  type Answer,
  type AnswerEnding,
  type ChatFailure,
  type Conversation,
  toChatRequest,
} from './conversation.ts'
import { type DraftView, emptyDraft, newDraft } from './draft.ts'
import { patiently } from './patiently.ts'
import { toChatFailure } from './to-chat-failure.ts'

const keepEveryMs = 2000

type Order = {
  daemon: InferenceClient
  conversation: Conversation
  model: string
  answerId: string
  signal: AbortSignal
  /** Shows the answer so far. */
  show: (view: DraftView) => void
  /**
   * Called before each wait with the time of the retry in milliseconds since 1970, and with undefined after the wait.
   */
  onWait: (until: number | undefined) => void
  /** Saves the answer so far. Called every two seconds, because the page may be closed at any time. */
  keep: (lost: Answer) => void
}

/** Receives an answer until it ends for any reason. Returns the answer, and the error if there was one. */
export async function takeAnswer(order: Order): Promise<{ answer: Answer; error?: unknown }> {
  const { daemon, conversation, model, answerId, signal, show, onWait, keep } = order
  const coming = newDraft(show)
  const answerNow = (ending: AnswerEnding, fault?: ChatFailure): Answer => ({
    id: answerId,
    role: 'assistant',
    model,
    ending,
    ...coming.read(),
    ...(fault && { fault }),
  })
  const ask = () => daemon.chat(toChatRequest(conversation, model), signal)
  // An answer without text is not saved, so that the page offers to ask the question again after a reload.
  const timer = setInterval(() => {
    const { content, reasoning } = coming.read()
    if (content || reasoning) keep(answerNow('lost'))
  }, keepEveryMs)
  show(emptyDraft)
  let ending: AnswerEnding = 'whole'
  try {
    for await (const part of patiently({ ask, signal, onWait })) {
      if ('finishReason' in part && part.finishReason === 'length') ending = 'cut'
      coming.add(part)
    }
    return { answer: answerNow(ending) }
  } catch (error) {
    if (signal.aborted) return { answer: answerNow('stopped') }
    return { answer: answerNow('failed', toChatFailure(error)), error }
  } finally {
    clearInterval(timer)
    coming.close()
  }
}
