/** OpenAI's Responses API for models on this machine. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ResponseRequest } from '@shoal/protocol'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { unsupported } from '../errors.ts'
import { clientGone } from '../http/client-gone.ts'
import { toErrorBody, toStreamFault } from '../http/error-handler.ts'
import { startEventStream } from '../http/event-stream.ts'
import { readKey } from '../http/guard.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { createResponseGeneration } from './generation.ts'
import type { ResponseEvent } from './item-events.ts'
import { keptResponses } from './kept-responses.ts'
import { responseEvents } from './response-events.ts'
import { beginResponse, failResponse, type ResponseObject } from './response-object.ts'
import { findNamespaces } from './tools.ts'

type Events = AsyncGenerator<ResponseEvent, ResponseObject>

export const responseRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  const responsesOf = keptResponses()

  app.post('/v1/responses', { schema: { body: ResponseRequest } }, async (request, reply) => {
    const { body } = request
    const kept = responsesOf(readKey(request.headers))
    const conversation = kept.continue(body.input, body.previous_response_id)
    const generation = createResponseGeneration(body, conversation)
    const signal = clientGone(reply)
    using use = await models.use(body.model)
    const response = beginResponse(body)
    const events = responseEvents(use.runtime.generate(generation, signal), response, {
      hasSummary: Boolean(body.reasoning?.summary), // the complete reasoning is sent in place of a summary
      namespaces: findNamespaces(body),
      keep(finished) {
        if (body.store !== false) kept.keep(finished, conversation)
      },
    })
    return body.stream ? await streamEvents(reply, events, response) : await wholeResponse(events)
  })

  // The request log redacts `:token`. Without a key, the ID alone gives access to the response.
  const path = '/v1/responses/:token'
  const params = Type.Object({ token: Type.String() })
  const querystring = Type.Object({ stream: Type.Optional(Type.String()) })

  app.get(path, { schema: { params, querystring } }, async ({ params, query, headers }) => {
    if (query.stream === 'true') {
      throw unsupported(
        'stream',
        'is not supported for a saved response: retrieve the response without stream=true',
      )
    }
    return responsesOf(readKey(headers)).get(params.token)
  })

  app.delete(path, { schema: { params } }, async ({ params: { token: id }, headers }) => {
    responsesOf(readKey(headers)).remove(id)
    return { id, object: 'response', deleted: true }
  })
}

async function wholeResponse(events: Events): Promise<ResponseObject> {
  for (;;) {
    const step = await events.next()
    if (step.done) return step.value
  }
}

async function streamEvents(reply: FastifyReply, events: Events, response: ResponseObject) {
  let step = await events.next()
  const stream = startEventStream(reply, { areEventsNamed: true })
  let sequence_number = 0
  try {
    for (; !step.done; step = await events.next()) {
      await stream.send({ ...step.value, sequence_number })
      sequence_number += 1
    }
    stream.end()
  } catch (error) {
    const { detail, error: fault } = toErrorBody(toStreamFault(error, reply.request))
    const { code, message } = fault
    const failed = failResponse(response, { code: code ?? 'server_error', message })
    stream.end({ type: 'response.failed', response: failed, sequence_number, detail })
  }
  return reply
}
