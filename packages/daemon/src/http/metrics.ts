import { type ServerMetrics, serverMetrics } from '@shoal/server'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { Counter, Gauge, Histogram } from 'prom-client'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { Finish, Runtime, StartRuntime } from '../runtime/runtime.ts'

export interface Metrics extends ServerMetrics {
  /** Prompt tokens (`prompt`), cached prompt tokens (`cached`), and generated tokens (`completion`). */
  readonly tokens: Counter<'kind'>
  /** Seconds from the start of prompt processing to the first token. Excludes the wait for a slot. */
  readonly firstToken: Histogram
  /** Seconds per token after the first, averaged over an answer. */
  readonly perToken: Histogram
}

/** Prometheus metrics for requests, tokens and models. */
export function makeMetrics({ droppedLogLines }: { droppedLogLines: () => number }): Metrics {
  const common = serverMetrics({
    requests: {
      name: 'shoal_daemon_request_seconds',
      bucketsSeconds: [0.01, 0.05, 0.2, 1, 5, 20, 60],
    },
    droppedLogLines: { name: 'shoal_daemon_log_lines_dropped_total', count: droppedLogLines },
  })
  const registers = [common.registry]
  return {
    ...common,
    tokens: new Counter({
      name: 'shoal_daemon_tokens_total',
      help: 'Prompt tokens (prompt), cached prompt tokens (cached) and generated tokens (completion)',
      labelNames: ['kind'],
      registers,
    }),
    firstToken: new Histogram({
      name: 'shoal_daemon_first_token_seconds',
      help: 'Time from the start of prompt processing to the first token, excluding the wait for a slot',
      buckets: [0.01, 0.05, 0.2, 1, 5, 20],
      registers,
    }),
    perToken: new Histogram({
      name: 'shoal_daemon_token_seconds',
      help: 'Time per token after the first, averaged over an answer',
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5],
      registers,
    }),
  }
}

/** Wraps `startRuntime` to record the tokens of a runtime's answers and embeddings, and the times of its answers. */
export function metered(startRuntime: StartRuntime, metrics: Metrics): StartRuntime {
  return async (options, signal) => {
    const runtime = await startRuntime(options, signal)
    return {
      ...runtime,
      generate: counted(runtime, metrics),
      embed: countedEmbed(runtime, metrics),
      rank: countedRank(runtime, metrics),
    }
  }
}

function counted(runtime: Runtime, metrics: Metrics): Runtime['generate'] {
  return async function* generate(generation, signal) {
    const finish = yield* runtime.generate(generation, signal)
    count(finish, metrics)
    return finish
  }
}

function countedEmbed(runtime: Runtime, { tokens }: Metrics): Runtime['embed'] {
  return async (...request) => {
    const embeddings = await runtime.embed(...request)
    tokens.inc({ kind: 'prompt' }, embeddings.promptTokens)
    return embeddings
  }
}

function countedRank(runtime: Runtime, { tokens }: Metrics): Runtime['rank'] {
  return async (...request) => {
    const ranking = await runtime.rank(...request)
    tokens.inc({ kind: 'prompt' }, ranking.promptTokens)
    return ranking
  }
}

function count(finish: Finish, { tokens, firstToken, perToken }: Metrics) {
  const { promptTokens, cachedTokens, completionTokens, firstTokenMs, generationMs } = finish
  tokens.inc({ kind: 'prompt' }, promptTokens)
  tokens.inc({ kind: 'cached' }, cachedTokens)
  tokens.inc({ kind: 'completion' }, completionTokens)
  if (completionTokens > 0) firstToken.observe(firstTokenMs / 1000)
  if (completionTokens > 1) {
    perToken.observe((generationMs - firstTokenMs) / 1000 / (completionTokens - 1))
  }
}

type Options = { metrics: Metrics; models: LoadedModels }

export const metricsRoute = fp(async (app: FastifyInstance, { metrics, models }: Options) => {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [metrics.registry],
      collect() {
        this.set(read())
      },
    })
  const sum = (read: (model: ReturnType<LoadedModels['status']>[number]) => number) => () =>
    models.status().reduce((total, model) => total + read(model), 0)
  gauge('shoal_daemon_models', 'Loaded models', () => models.status().length)
  gauge(
    'shoal_daemon_model_memory_bytes',
    'Estimated memory used by the loaded models, in bytes',
    sum(({ memoryBytes }) => memoryBytes),
  )
  gauge(
    'shoal_daemon_model_requests',
    'Requests in progress or waiting for a slot',
    sum(({ requests }) => requests),
  )

  app.get('/metrics', { config: { isQuiet: true } }, async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  )
})
