import { EventEmitter, once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { onTestFinished } from 'vitest'
import { errorHandler } from '../error-handler.ts'
import { type AppOptions, makeApp } from '../make-app.ts'
import { serverMetrics } from '../server-metrics.ts'
import type { StepRequest } from '../steps.ts'

export type Line = Record<string, unknown> & { level: string; msg: string }

type Options<Request extends StepRequest> = Pick<AppOptions<Request>, 'steps' | 'shortcut'>

/** Creates an application without routes, and collects the lines that it logs. */
export function appOfTest<Request extends StepRequest = FastifyRequest>(
  options: Options<Request> = {},
) {
  const lines: Line[] = []
  const written = new EventEmitter()
  const metrics = serverMetrics({
    requests: { name: 'requests', bucketsSeconds: [1] },
    droppedLogLines: { name: 'dropped', count: () => 0 },
  })
  const app = makeApp<Request>({
    ...options,
    metrics,
    log: loggerTo((line) => {
      lines.push(line)
      written.emit('line')
    }),
    handleError: errorHandler((error) => {
      const { statusCode: status = 500, message } = error as Error & { statusCode?: number }
      return { status, body: { detail: status < 500 ? message : 'internal error' }, retryAfter: 5 }
    }),
    makeBody: (_status, detail) => ({ detail }),
    timeoutMessage: 'too slow',
    logFields: (request: object) => ({ extra: readExtra(request) }),
    fastify: {},
  })
  return { app, metrics, lines, written }
}

/**
 * Starts a real server on a free port, with the routes added by `addRoutes`. The server is closed at the end of the
 * test.
 */
export async function serverOfTest<Request extends StepRequest = FastifyRequest>(
  addRoutes: (app: FastifyInstance) => void,
  options: Options<Request> = {},
) {
  const { app, metrics, lines, written } = appOfTest(options)
  addRoutes(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => app.close())
  const { port } = app.server.address() as AddressInfo
  return {
    app,
    metrics: metrics.registry,
    port,
    url: `http://127.0.0.1:${port}`,
    lines,
    /** Waits until this many requests have been logged. */
    async requestLines(count: number) {
      const found = () => lines.filter(({ msg }) => msg === 'request')
      while (found().length < count) await once(written, 'line')
      return found()
    },
  }
}

const readExtra = (request: { query?: unknown }) =>
  (request.query as { extra?: string } | null | undefined)?.extra

function loggerTo(write: (line: Line) => void, bindings: object = {}): FastifyBaseLogger {
  const at = (level: string) => (fields: object, msg: string) =>
    write({ level, msg, ...bindings, ...fields })
  return {
    level: 'debug',
    ...Object.fromEntries(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => [level, at(level)]),
    ),
    silent: () => undefined,
    child: (more: object) => loggerTo(write, { ...bindings, ...more }),
  } as unknown as FastifyBaseLogger
}
