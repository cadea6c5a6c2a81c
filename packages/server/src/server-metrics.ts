import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { whenOver } from './when-over.ts'

type MetricsOptions = {
  requests: { name: string; bucketsSeconds: number[] }
  droppedLogLines: { name: string; count: () => number }
}

export interface ServerMetrics {
  /** Contains these metrics and any that a server adds. */
  readonly registry: Registry
  /** Seconds from a request to the end of its response. */
  readonly requests: Histogram<'method' | 'route' | 'status'>
}

/** Prometheus metrics of every server: the process, requests by route and status, and dropped log lines. */
export function serverMetrics({ requests, droppedLogLines }: MetricsOptions): ServerMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Counter({
    name: droppedLogLines.name,
    help: 'Log lines dropped because the reader of the log had stopped or the disk was full',
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
      help: 'Time to respond to a request, by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: requests.bucketsSeconds,
      registers: [registry],
    }),
  }
}

type Requests = ReturnType<typeof serverMetrics>['requests']

/** Observes how long each request took, once its response is over. Requests that the client gave up have status 499. */
export function observeRequests(app: FastifyInstance, requests: Requests) {
  app.addHook('onRequest', async ({ method, routeOptions }, reply) => {
    const route = routeOptions.url ?? 'none'
    whenOver(reply, ({ status, ms }) => {
      requests.observe({ method, route, status }, ms / 1000)
    })
  })
}
