/** Anthropic's Messages API for models on this machine. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CountTokensRequest, MessagesRequest } from '@shoal/protocol'
import type { FastifyReply } from 'fastify'
import { clientGone } from '../http/client-gone.ts'
import { toAnthropicErrorBody, toStreamFault } from '../http/error-handler.ts'
import { startEventStream } from '../http/event-stream.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { Finish, Piece } from '../runtime/runtime.ts'
import { createMessagesChat, createMessagesGeneration } from './generation.ts'
import { type BlockEvent, blockEvents, emptyMessage, joinBlocks, toEnding } from './message.ts'

type Steps = AsyncGenerator<Piece, Finish>

export const messagesRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  app.post('/v1/messages', { schema: { body: MessagesRequest } }, async ({ body }, reply) => {
    const generation = createMessagesGeneration(body)
    const signal = clientGone(reply)
    using use = await models.use(body.model)
    const steps = use.runtime.generate(generation, signal)
    if (body.stream) return await streamMessage(reply, steps, body.model)
    return await wholeMessage(steps, body.model)
  })

  app.post(
    '/v1/messages/count_tokens',
    { schema: { body: CountTokensRequest } },
    async ({ body }) => {
      const chat = createMessagesChat(body)
      using use = await models.use(body.model)
      return { input_tokens: await use.runtime.countTokens({ chat }) }
    },
  )
}

async function wholeMessage(steps: Steps, model: string) {
  const blocks = blockEvents()
  const events: BlockEvent[] = []
  for (;;) {
    const step = await steps.next()
    if (!step.done) {
      events.push(...blocks.take(step.value))
      continue
    }
    const { delta, usage } = toEnding(step.value)
    return { ...emptyMessage(model), content: joinBlocks(events), ...delta, usage }
  }
}

async function streamMessage(reply: FastifyReply, steps: Steps, model: string) {
  // Until the request is admitted, an error can be sent with its own HTTP status.
  let step = await steps.next()
  const stream = startEventStream(reply, { areEventsNamed: true })
  const blocks = blockEvents()
  try {
    await stream.send({ type: 'message_start', message: emptyMessage(model) })
    for (; !step.done; step = await steps.next()) {
      for (const event of blocks.take(step.value)) await stream.send(event)
    }
    for (const event of blocks.finish()) await stream.send(event)
    await stream.send({ type: 'message_delta', ...toEnding(step.value) })
    stream.end({ type: 'message_stop' })
  } catch (error) {
    stream.end(toAnthropicErrorBody(toStreamFault(error, reply.request)))
  }
  return reply
}
