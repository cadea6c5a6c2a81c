import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { whenOver } from './when-over.ts'

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

type Requests = ReturnType<typeof serverMetrics>['requests']

/** Observes how long each request took once its answer is over; those that the client gave up have the status 499. */
export function observeRequests(app: FastifyInstance, requests: Requests) {
  app.addHook('onRequest', async ({ method, routeOptions }, reply) => {
    const route = routeOptions.url ?? 'none'
    whenOver(reply, ({ status, ms }) => {
      requests.observe({ method, route, status }, ms / 1000)
    })
  })
}
