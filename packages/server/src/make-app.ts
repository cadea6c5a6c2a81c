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
import { readRequestId } from './request-id.ts'
import { type LogFields, logRequest } from './request-log.ts'

export type AppOptions = ErrorAnswers & {
  log: FastifyBaseLogger
  /** Sends every error that is thrown on the way of a request. */
  handleError: (error: Error, request: FastifyRequest, reply: FastifyReply) => unknown
  /** What the line of a request has besides method, path, status and milliseconds. Default: nothing. */
  logFields?: LogFields
  /** What differs from server to server: limits and timeouts. */
  fastify: FastifyHttpOptions<RawServerDefault>
}

/** An application without routes: what is set alike in each server, and how they answer what no route gets to see. */
export function makeApp({
  log,
  handleError,
  logFields = () => ({}),
  fastify,
  ...errorAnswers
}: AppOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    ...fastify,
    genReqId: readRequestId,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }), // a request has a line of our own
    forceCloseConnections: 'idle',
    return503OnClosing: false, // what comes in while the process ends is answered as ever
    http: { ...fastify.http, requireHostHeader: false }, // the check of the host says it in our words
    routerOptions: { ...fastify.routerOptions, ignoreTrailingSlash: true },
    rewriteUrl: ({ url = '/' }) => withoutHost(url),
    // What is refused before any hook has seen it, such as a URL that cannot be decoded.
    frameworkErrors(error, request, reply) {
      logRequest(request as FastifyRequest, reply as FastifyReply, logFields)
      return handleError(error, request as FastifyRequest, reply as FastifyReply)
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, errorAnswers),
  })
  app.setErrorHandler(handleError)
  app.addHook('onRequest', async (request, reply) => logRequest(request, reply, logFields))
  answerUnknownExpectations(app.server, errorAnswers)
  return app
}

/** A target in absolute form (RFC 9112 §3.2.2) is as good as its path. */
const withoutHost = (url: string): string => url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
