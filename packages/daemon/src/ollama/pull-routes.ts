import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { OllamaPullRequest } from '@shoal/protocol'
import { type BodyStream, jsonLines, startStream } from '../http/body-stream.ts'
import { clientGone } from '../http/client-gone.ts'
import { toOllamaErrorBody, toStreamFault } from '../http/error-handler.ts'
import type { ModelPulls, PullPart } from '../pulls/pull-model.ts'
import { namedModel } from './named-model.ts'
import { pullStatusLines } from './pull-status-lines.ts'

export const pullRoutes: FastifyPluginAsyncTypebox<{ pulls: ModelPulls }> = async (
  app,
  { pulls },
) => {
  app.addHook('preClose', () => pulls.close()) // otherwise, shutdown would wait for the downloads

  app.post('/api/pull', { schema: { body: OllamaPullRequest } }, async ({ body }, reply) => {
    const signal = clientGone(reply)
    const allowsUnknown = body.allow_unknown_registry ?? false
    const parts = await pulls.listParts({ model: namedModel(body), allowsUnknown }, signal)
    if (body.stream === false) {
      for (const part of parts) await pulls.pull(part, { signal, onEvent: () => undefined })
      return { status: 'success' }
    }
    // Until the stream has started, an error can be sent with its own HTTP status.
    const stream = startStream(reply, jsonLines)
    try {
      await pullWithLines(parts, stream, signal)
    } catch (error) {
      stream.end(toOllamaErrorBody(toStreamFault(error, reply.request)))
    }
    return reply
  })

  async function pullWithLines(parts: PullPart[], stream: BodyStream, signal: AbortSignal) {
    await stream.send({ status: 'pulling manifest' })
    for (const part of parts) {
      // If the client reads slowly, status lines are omitted, because the pull does not wait for the client.
      const report = pullStatusLines(part.file, { report: stream.report, isBehind: stream.isFull })
      await pulls.pull(part, { signal, onEvent: report.onEvent })
      report.finish()
    }
    await stream.send({ status: 'verifying sha256 digest' })
    await stream.send({ status: 'writing manifest' })
    stream.end({ status: 'success' })
  }
}
