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
  /** Shows what has come. */
  show: (view: DraftView) => void
  /** Until when it waits for its turn now, as `Date.now()` counts; undefined once it asks again. */
  onWait: (until: number | undefined) => void
  /** Keeps what has come, every two seconds: the page may be left. */
  keep: (lost: Answer) => void
}

/** Takes an answer in until it ends, for whatever reason: with the error, where it was one. */
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
  // An answer without text is not kept: after a reload its question can be asked again.
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
