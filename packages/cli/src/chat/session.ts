import type { InferenceClient } from '@shoal/protocol/inference-client'
import type { Context } from '../context.ts'
import type { Answer } from './ask-model.ts'
import type { Conversation } from './conversation.ts'
import type { ReadyModel } from './ready-model.ts'

/** One chat at a terminal. */
export type ChatSession = {
  context: Context
  client: InferenceClient
  model: ReadyModel
  conversation: Conversation
  lastAnswer: Answer | undefined
}
