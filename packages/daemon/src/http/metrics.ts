import { type ServerMetrics, serverMetrics } from '@shoal/server'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { Counter, Gauge, Histogram } from 'prom-client'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { Finish, StartRuntime } from '../runtime/runtime.ts'

export interface Metrics extends ServerMetrics {
  /** Prompt tokens (`prompt`), cached prompt tokens (`cached`), and generated tokens (`completion`). */
  readonly tokens: Counter<'model' | 'kind'>
  /** Seconds from the start of prompt processing to the first token. Excludes the wait for a slot. */
  readonly firstToken: Histogram<'model'>
  /** Seconds per token after the first, averaged over an answer. */
  readonly perToken: Histogram<'model'>
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
      labelNames: ['model', 'kind'],
      registers,
    }),
    firstToken: new Histogram({
      name: 'shoal_daemon_first_token_seconds',
      help: 'Time from the start of prompt processing to the first token, excluding the wait for a slot',
      labelNames: ['model'],
      buckets: [0.01, 0.05, 0.2, 1, 5, 20],
      registers,
    }),
    perToken: new Histogram({
      name: 'shoal_daemon_token_seconds',
      help: 'Time per token after the first, averaged over an answer',
      labelNames: ['model'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5],
      registers,
    }),
  }
}

/** Returns a function that limits the number of models in the metrics: a label's values are kept until the daemon ends. */
function modelLabels() {
  const known = new Set<string>()
  return (id: string): string => {
    if (known.size < maxModels) known.add(id)
    return known.has(id) ? id : 'other'
  }
}

const maxModels = 100

/** Wraps `startRuntime` to record the tokens of a runtime's answers and embeddings, and the times of its answers. */
export function metered(startRuntime: StartRuntime, metrics: Metrics): StartRuntime {
  const toLabel = modelLabels()
  return async (options, signal) => {
    const runtime = await startRuntime(options, signal)
    const { generate, embed, rank } = runtime
    const model = toLabel(options.modelId ?? '')
    const countPrompt = <Result extends { promptTokens: number }>(result: Result): Result => {
      metrics.tokens.inc({ model, kind: 'prompt' }, result.promptTokens)
      return result
    }
    return {
      ...runtime,
      async *generate(generation, signal) {
        const finish = yield* generate(generation, signal)
        count(finish, model, metrics)
        return finish
      },
      embed: async (...request) => countPrompt(await embed(...request)),
      rank: async (...request) => countPrompt(await rank(...request)),
    }
  }
}

function count(finish: Finish, model: string, { tokens, firstToken, perToken }: Metrics) {
  const { promptTokens, cachedTokens, completionTokens, firstTokenMs, generationMs } = finish
  tokens.inc({ model, kind: 'prompt' }, promptTokens)
  tokens.inc({ model, kind: 'cached' }, cachedTokens)
  tokens.inc({ model, kind: 'completion' }, completionTokens)
  if (completionTokens > 0) firstToken.observe({ model }, firstTokenMs / 1000)
  if (completionTokens > 1) {
    perToken.observe({ model }, (generationMs - firstTokenMs) / 1000 / (completionTokens - 1))
  }
}

type Options = { metrics: Metrics; models: LoadedModels }
type Status = ReturnType<LoadedModels['queues']>[number]

export const metricsRoute = fp(async (app: FastifyInstance, { metrics, models }: Options) => {
  const registers = [metrics.registry]
  new Gauge({
    name: 'shoal_daemon_models',
    help: 'Loaded models',
    registers,
    collect() {
      this.set(models.status().length)
    },
  })
  const gauge = (name: string, help: string, read: (status: Status) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['model'],
      registers,
      collect() {
        this.reset()
        for (const status of models.queues()) this.inc({ model: status.id }, read(status))
      },
    })
  gauge(
    'shoal_daemon_model_memory_bytes',
    'Estimated memory used by each loaded model, in bytes',
    ({ memoryBytes }) => memoryBytes,
  )
  gauge(
    'shoal_daemon_model_requests',
    'Requests in progress or waiting, for each model',
    ({ requests }) => requests,
  )
  gauge(
    'shoal_daemon_queued_requests',
    'Requests that wait for a model to be loaded or for one of its slots',
    ({ queued }) => queued,
  )

  app.get('/metrics', { config: { isQuiet: true } }, async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  )
})
