import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { OllamaPullRequest } from '@shoal/protocol'
import { clientGone } from '../http/client-gone.ts'
import type { ModelPulls, PullPart } from '../pulls/pull-model.ts'
import { type LineStream, startLineStream } from './line-stream.ts'
import { namedModel } from './named-model.ts'
import { pullStatusLines } from './pull-status-lines.ts'

export const pullRoutes: FastifyPluginAsyncTypebox<{ pulls: ModelPulls }> = async (
  app,
  { pulls },
) => {
  app.addHook('preClose', () => pulls.close()) // or closing would wait for the complete file

  app.post('/api/pull', { schema: { body: OllamaPullRequest } }, async ({ body }, reply) => {
    const signal = clientGone(reply)
    const parts = await pulls.listParts(namedModel(body), signal)
    if (body.stream === false) {
      for (const part of parts) await pulls.pull(part, { signal, onEvent: () => undefined })
      return { status: 'success' }
    }
    // Up to here it can be refused with its own status.
    const stream = startLineStream(reply)
    try {
      await pullWithLines(parts, stream, signal)
    } catch (error) {
      stream.fail(error)
    }
    return reply
  })

  async function pullWithLines(parts: PullPart[], stream: LineStream, signal: AbortSignal) {
    await stream.send({ status: 'pulling manifest' })
    for (const part of parts) {
      // A client that reads slowly misses lines, not bytes: the pull does not wait for it.
      const report = pullStatusLines(part.file, { report: stream.report, isBehind: stream.isFull })
      await pulls.pull(part, { signal, onEvent: report.onEvent })
      report.finish()
    }
    await stream.send({ status: 'verifying sha256 digest' })
    await stream.send({ status: 'writing manifest' })
    stream.end({ status: 'success' })
  }
}
