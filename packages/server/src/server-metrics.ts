import { Counter, collectDefaultMetrics, Registry } from 'prom-client'
import { type RequestTimes, requestTimes } from './request-times.ts'

type MetricsOptions = {
  requests: { name: string; bucketsSeconds: number[] }
  droppedLogLines: { name: string; count: () => number }
}

export interface ServerMetrics {
  /** The Prometheus registry of these metrics. A server can add its own metrics. */
  readonly registry: Registry
  /** Seconds from a request to the end of its response. A request has status 499 if its client disconnected early. */
  readonly requests: RequestTimes
}

/**
 * Creates the Prometheus metrics that every server has: about its process, its requests (by method, route and status),
 * and dropped log lines.
 */
export function serverMetrics({ requests, droppedLogLines }: MetricsOptions): ServerMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Counter({
    name: droppedLogLines.name,
    help: 'Log lines dropped because the log reader had stopped or the disk was full',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(droppedLogLines.count())
    },
  })
  return { registry, requests: requestTimes({ ...requests, registry }) }
}
