import { clientClosedRequest, type ServerMetrics, serverMetrics, whenOver } from '@shoal/server'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { ByteBudget } from '../store/byte-budget.ts'

/** The metrics that every server has, and the registry's own metrics that requests update. */
export interface Metrics extends ServerMetrics {
  /** Bytes of model files sent by this registry. */
  bytesSent: Counter
}

export function makeMetrics({ droppedLogLines }: { droppedLogLines: () => number }): Metrics {
  const common = serverMetrics({
    requests: {
      name: 'shoal_http_request_seconds',
      bucketsSeconds: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    },
    droppedLogLines: { name: 'shoal_log_lines_dropped_total', count: droppedLogLines },
  })
  const bytesSent = new Counter({
    name: 'shoal_blob_bytes_sent_total',
    help: 'Bytes of model files sent by this registry',
    registers: [common.registry],
  })
  return { ...common, bytesSent }
}

/** Registers metrics for the downloads and chunk uploads in progress, and for the memory that they use. */
export function transferMetrics(registry: Registry, budget: ByteBudget) {
  new Gauge({
    name: 'shoal_transfers',
    help: 'Downloads and chunk uploads in progress through this registry',
    registers: [registry],
    collect() {
      this.set(budget.transfers())
    },
  })
  new Gauge({
    name: 'shoal_transfer_buffer_bytes',
    help: 'Bytes of model files held in memory while they are received or sent',
    registers: [registry],
    collect() {
      this.set(budget.usedBytes())
    },
  })
}

/** Counts the bytes that the routes of this plugin's scope send. */
export const sentBytes = fp(async (app: FastifyInstance, { metrics }: { metrics: Metrics }) => {
  app.addHook('onRequest', ({ method }, reply, done) => {
    if (method === 'GET') {
      whenOver(reply.raw, ({ status }) => {
        if (status === clientClosedRequest) return
        metrics.bytesSent.inc(Number(reply.getHeader('content-length') ?? 0))
      })
    }
    done()
  })
})
