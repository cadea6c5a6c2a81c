import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawServerDefault,
} from 'fastify'
import {
  answerBrokenRequest,
  answerUnknownExpectations,
  type ErrorAnswers,
} from './broken-requests.ts'
import { buildSerializer } from './build-serializer.ts'
import { followRequest, type LogFields } from './follow-request.ts'
import { readRequestId } from './request-id.ts'
import type { ServerMetrics } from './server-metrics.ts'

export type AppOptions = ErrorAnswers & {
  log: FastifyBaseLogger
  metrics: Pick<ServerMetrics, 'requests'>
  /** Responds to every error thrown while handling a request. */
  handleError: (error: Error, request: FastifyRequest, reply: FastifyReply) => unknown
  /** Fields to add to each request's log line, such as the user. Default: none. */
  logFields?: LogFields
  /** Limits and timeouts, which differ between servers. */
  fastify: FastifyHttpOptions<RawServerDefault>
}

/**
 * Creates an application without routes. It has the configuration that all servers share, and sends error responses to
 * requests that never reach a route.
 */
export function makeApp({
  log,
  metrics: { requests },
  handleError,
  logFields = () => ({}),
  fastify,
  ...errorAnswers
}: AppOptions): FastifyInstance {
  const followers = { log, logFields, requests }
  const app: FastifyInstance = Fastify({
    ...fastify,
    genReqId: readRequestId,
    loggerInstance: log,
    // Without options, pino creates a child logger without setting up the levels again.
    childLoggerFactory: (logger, bindings) => logger.child(bindings),
    logController: new LogController({ disableRequestLogging: true }), // requests are logged by `followRequest`
    forceCloseConnections: 'idle',
    return503OnClosing: false, // requests that arrive during shutdown are handled as usual
    schemaController: { compilersFactory: { buildSerializer } },
    http: { ...fastify.http, requireHostHeader: false }, // Node's own 400 is not in the API's format
    routerOptions: { ...fastify.routerOptions, ignoreTrailingSlash: true },
    rewriteUrl: ({ url = '/' }) => withoutHost(url),
    // Handles errors that occur before any hook runs, such as a URL that cannot be decoded.
    frameworkErrors(error, request, reply) {
      followRequest(request as FastifyRequest, reply as FastifyReply, followers)
      return handleError(error, request as FastifyRequest, reply as FastifyReply)
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, errorAnswers),
  })
  app.setErrorHandler(handleError)
  app.decorateRequest('route')
  app.addHook('onRequest', (request, reply, done) => {
    followRequest(request, reply, followers)
    done()
  })
  answerUnknownExpectations(app.server, errorAnswers)
  return app
}

/** Removes the scheme and host from an absolute-form request target (RFC 9112 §3.2.2). */
const withoutHost = (url: string): string => url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
