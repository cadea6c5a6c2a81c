import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

type MetricsOptions = {
  requests: { name: string; bucketsSeconds: number[] }
  droppedLogLines: { name: string; count: () => number }
}

export interface ServerMetrics {
  /** Holds these metrics, and those that a server adds. */
  readonly registry: Registry
  /** Seconds from a request to the end of its answer. */
  readonly requests: Histogram<'method' | 'route' | 'status'>
}

/** What each server tells in Prometheus' format: the process, its requests by route and status, and lines lost from its log. */
export function serverMetrics({ requests, droppedLogLines }: MetricsOptions): ServerMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Counter({
    name: droppedLogLines.name,
    help: 'Lines that are missing in the log because its reader had stopped or its disk was full',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(droppedLogLines.count())
    },
  })
  return {
    registry,
    requests: new Histogram({
      name: requests.name,
      help: 'Time to answer a request, by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: requests.bucketsSeconds,
      registers: [registry],
    }),
  }
}
