/** Anthropic's Messages API for models on this machine. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CountTokensRequest, MessagesRequest } from '@shoal/protocol'
import type { DaemonConfig } from '../config.ts'
import { namedEvents } from '../http/body-stream.ts'
import { clientGone } from '../http/client-gone.ts'
import { toAnthropicErrorBody } from '../http/error-handler.ts'
import { answerSteps, convertSteps, readSteps, streamAnswer } from '../http/stream-answer.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { Finish, Piece } from '../runtime/runtime.ts'
import { createMessagesChat, createMessagesGeneration } from './generation.ts'
import { blockEvents, emptyMessage, joinBlocks, toEnding } from './message.ts'

type Steps = AsyncGenerator<Piece, Finish>

type Dependencies = { config: DaemonConfig; models: LoadedModels }

export const messagesRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config, models },
) => {
  app.post('/v1/messages', { schema: { body: MessagesRequest } }, async ({ body }, reply) => {
    const generation = createMessagesGeneration(body, config)
    const signal = clientGone(reply)
    const steps = answerSteps(
      () => models.use(body.model, { signal }),
      ({ runtime }) => runtime.generate(generation, signal),
    )
    if (!body.stream) return await wholeMessage(steps, body.model)
    return await streamAnswer(reply, steps, {
      ...{ ...namedEvents, silenceMs: config.silenceMs },
      toParts: (all) => messageEvents(all, body.model),
      toSign: () => ({ type: 'ping' }),
      toFailure: toAnthropicErrorBody,
    })
  })

  app.post(
    '/v1/messages/count_tokens',
    { schema: { body: CountTokensRequest } },
    async ({ body }, reply) => {
      const chat = createMessagesChat(body, config)
      using use = await models.use(body.model, { signal: clientGone(reply) })
      return { input_tokens: await use.runtime.countTokens({ chat }) }
    },
  )
}

async function wholeMessage(steps: Steps, model: string) {
  const { all, end } = await readSteps(convertSteps(steps, blockEvents().take))
  const { delta, usage } = toEnding(end)
  return { ...emptyMessage(model, end), content: joinBlocks(all), ...delta, usage }
}

async function* messageEvents(steps: Steps, model: string): AsyncGenerator<object> {
  const blocks = blockEvents()
  const finish = yield* convertSteps(steps, function* (piece): Generator<object> {
    if (piece.prompt) yield { type: 'message_start', message: emptyMessage(model, piece.prompt) }
    yield* blocks.take(piece)
  })
  yield* blocks.finish()
  yield { type: 'message_delta', ...toEnding(finish) }
  yield { type: 'message_stop' }
}
