/** `shoal run <model> "…"`: sends one prompt and prints only the answer on stdout. */

import type { InferenceClient } from '@shoal/protocol/inference-client'
import type { Context } from '../context.ts'
import { Failure } from '../terminal/failure.ts'
import { askModel } from './ask-model.ts'
import { type Conversation, createChatRequest } from './conversation.ts'
import type { ReadyModel } from './ready-model.ts'
import { answerOnStdout, nothingShown } from './show-answer.ts'

type Question = { client: InferenceClient; model: ReadyModel; conversation: Conversation }

export async function answerOnce(context: Context, { client, model, conversation }: Question) {
  const { printer } = context
  const answer = await askModel(client, createChatRequest(model.id, conversation), {
    signal: context.takeStopSignal(),
    show: printer.isJson ? nothingShown : answerOnStdout(printer),
  })
  if (answer.finishReason === 'stopped') throw new Failure('stopped', 'Stopped.')
  const document = {
    model: model.id,
    quantization: model.quantization,
    content: answer.content,
    reasoning: answer.reasoning || null,
    finish_reason: answer.finishReason,
    usage: answer.usage ?? null,
    load_seconds: rounded(model.loadSeconds),
    first_token_seconds: rounded(answer.firstTokenSeconds ?? answer.seconds),
    seconds: rounded(answer.seconds),
  }
  await printer.answer(document, () => [])
  if (answer.finishReason === 'length') printer.note('  The answer was cut off at the token limit.')
}

/** Rounds seconds to milliseconds. */
const rounded = (seconds: number) => Math.round(seconds * 1000) / 1000
