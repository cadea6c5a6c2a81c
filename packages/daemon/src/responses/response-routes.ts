/** OpenAI's Responses API for models on this machine. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ResponseRequest } from '@shoal/protocol'
import Type from 'typebox'
import type { DaemonConfig } from '../config.ts'
import { type Fault, unsupported } from '../errors.ts'
import { namedEvents } from '../http/body-stream.ts'
import { clientGone } from '../http/client-gone.ts'
import { toErrorBody } from '../http/error-handler.ts'
import { readKey } from '../http/guard.ts'
import { answerSteps, convertSteps, readSteps, streamAnswer } from '../http/stream-answer.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { withJoinedCalls } from '../runtime/join-calls.ts'
import type { Finish, Piece } from '../runtime/runtime.ts'
import { createResponseGeneration } from './generation.ts'
import { keptResponses } from './kept-responses.ts'
import { inProgress, responseEvents } from './response-events.ts'
import { beginResponse, failResponse, type ResponseObject } from './response-object.ts'
import { listTools } from './tools.ts'

type Steps = AsyncGenerator<Piece, Finish>
type Dependencies = { config: DaemonConfig; models: LoadedModels }

export const responseRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config, models },
) => {
  const responsesOf = keptResponses()

  app.post('/v1/responses', { schema: { body: ResponseRequest } }, async (request, reply) => {
    const { body } = request
    const kept = responsesOf(readKey(request.headers))
    const conversation = kept.continue(body.input, body.previous_response_id)
    const tools = listTools(body, conversation)
    const generation = createResponseGeneration(body, { conversation, tools, media: config })
    const joinedNames = tools.flatMap(({ type, name }) => (type === 'function' ? [] : name))
    const signal = clientGone(reply)
    const steps = answerSteps(
      () => models.use(body.model, { signal }),
      ({ runtime }) => withJoinedCalls(runtime, new Set(joinedNames)).generate(generation, signal),
    )
    const response = beginResponse(body)
    const toEvents = (all: Steps) =>
      responseEvents(all, response, {
        hasSummary: Boolean(body.reasoning?.summary), // the complete reasoning is sent in place of a summary
        tools: new Map(tools.map((tool) => [tool.name, tool])),
        keep(finished) {
          if (body.store !== false) kept.keep(finished, conversation)
        },
      })
    if (!body.stream) return (await readSteps(toEvents(steps))).end
    return await streamAnswer(reply, steps, {
      ...{ ...namedEvents, silenceMs: config.silenceMs },
      ...numbered(response, toEvents),
    })
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

/** Numbers the events of a response, including the last one if the response fails. */
function numbered(
  response: ResponseObject,
  toEvents: (steps: Steps) => ReturnType<typeof responseEvents>,
) {
  let count = 0
  const number = (event: object) => ({ ...event, sequence_number: count++ })
  return {
    toParts: (steps: Steps) => convertSteps(toEvents(steps), (event) => [number(event)]),
    toSign: () => number(inProgress(response)),
    toFailure(fault: Fault) {
      const { detail, error } = toErrorBody(fault)
      const { code, message } = error
      const failed = failResponse(response, { code: code ?? 'server_error', message })
      return number({ type: 'response.failed', response: failed, detail })
    },
  }
}
