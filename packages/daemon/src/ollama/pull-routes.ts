import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { OllamaPullRequest } from '@shoal/protocol'
import type { Static } from 'typebox'
import { Fault } from '../errors.ts'
import { type BodyStream, jsonLines, startStream } from '../http/body-stream.ts'
import { clientGone } from '../http/client-gone.ts'
import { toOllamaErrorBody, toStreamFault } from '../http/error-handler.ts'
import type { LocalModels } from '../models/local-models.ts'
import type { ModelPulls, PullPart } from '../pulls/pull-model.ts'
import { namedModel } from './named-model.ts'
import { pullStatusLines } from './pull-status-lines.ts'

type Dependencies = { pulls: ModelPulls; local: LocalModels }

export const pullRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { pulls, local },
) => {
  app.addHook('preClose', () => pulls.close()) // otherwise, shutdown would wait for the downloads

  app.post('/api/pull', { schema: { body: OllamaPullRequest } }, async ({ body }, reply) => {
    const signal = clientGone(reply)
    const { parts, note } = await findParts(body, signal)
    if (body.stream === false) {
      for (const part of parts) await pulls.pull(part, { signal, onEvent: () => undefined })
      return { status: 'success' }
    }
    // Until the stream has started, an error can be sent with its own HTTP status.
    const stream = startStream(reply, jsonLines)
    try {
      if (note !== undefined) await stream.send({ status: note })
      await pullWithLines(parts, stream, signal)
    } catch (error) {
      stream.end(toOllamaErrorBody(toStreamFault(error, reply.request)))
    }
    return reply
  })

  /** If the registry cannot be asked for a model that is on this machine, there is nothing to pull: `note` says why. */
  async function findParts(
    body: Static<typeof OllamaPullRequest>,
    signal: AbortSignal,
  ): Promise<{ parts: PullPart[]; note?: string }> {
    const model = namedModel(body)
    const allowsUnknown = body.allow_unknown_registry ?? false
    try {
      return { parts: await pulls.listParts({ model, allowsUnknown }, signal) }
    } catch (error) {
      if (!(error instanceof Fault && (await local.find(model)))) throw error
      return { parts: [], note: `using the files on this machine: ${error.message}` }
    }
  }

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
