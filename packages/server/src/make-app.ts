import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
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
import { findHostProblem, toOriginForm } from './host-header.ts'
import type { ServerMetrics } from './server-metrics.ts'
import {
  requestId,
  runStepsInFastify,
  type Shortcut,
  type Step,
  type StepRequest,
  serverWithShortcut,
} from './steps.ts'

export type AppOptions<Request extends StepRequest> = ErrorAnswers & {
  log: FastifyBaseLogger
  metrics: Pick<ServerMetrics, 'requests'>
  /** Responds to every error thrown while handling a request. */
  handleError: (error: Error, request: FastifyRequest, reply: FastifyReply) => unknown
  /** Fields to add to each request's log line, such as the user. Default: none. */
  logFields?: ForBoth<LogFields<Request>, LogFields<FastifyRequest>>
  /** The steps that every request goes through after it is logged, in this order. Default: none. */
  steps?: readonly ForBoth<Step<Request>, Step<FastifyRequest>>[]
  /**
   * Finds responses that can be sent without Fastify. Default: Fastify answers all requests. With a shortcut, Fastify
   * does not create the server, so timeouts must be set in `fastify.http`.
   */
  shortcut?: Shortcut<Request> | undefined
  /** Limits and timeouts, which differ between servers. */
  fastify: FastifyHttpOptions<RawServerDefault>
}

/** A function that accepts the requests of both ways in. */
type ForBoth<Short, Fastify> = Short & Fastify

/**
 * Creates an application without routes. It has the configuration that all servers share, and sends error responses to
 * requests that never reach a route.
 */
export function makeApp<Request extends StepRequest = FastifyRequest>({
  log,
  metrics: { requests },
  handleError,
  logFields = () => ({}),
  steps: moreSteps = [],
  shortcut,
  fastify,
  ...errorAnswers
}: AppOptions<Request>): FastifyInstance {
  const follow = followRequest<FastifyRequest>({ log, logFields, requests })
  const http = { ...fastify.http, requireHostHeader: false } // Node's own 400 is not in the API's format
  const steps = [follow, refuseBadHost, ...moreSteps]
  const serverFactory: FastifyServerFactory | undefined =
    shortcut &&
    ((handler) =>
      serverWithShortcut(handler, http, {
        shortcut,
        steps: [followRequest<Request>({ log, logFields, requests }), ...moreSteps],
      }))
  const app: FastifyInstance = Fastify({
    ...fastify,
    ...(serverFactory && { serverFactory }),
    genReqId: requestId,
    loggerInstance: log,
    // Without options, pino creates a child logger without setting up the levels again.
    childLoggerFactory: (logger, bindings) => logger.child(bindings),
    logController: new LogController({ disableRequestLogging: true }), // requests are logged by `followRequest`
    forceCloseConnections: 'idle',
    return503OnClosing: false, // requests that arrive during shutdown are handled as usual
    schemaController: { compilersFactory: { buildSerializer } },
    http,
    routerOptions: { ...fastify.routerOptions, ignoreTrailingSlash: true },
    rewriteUrl: toOriginForm,
    // Handles errors that occur before any hook runs, such as a URL that cannot be decoded.
    frameworkErrors(error, request, reply) {
      request.route = request.routeOptions
      follow(request as FastifyRequest, reply as FastifyReply)
      return handleError(error, request as FastifyRequest, reply as FastifyReply)
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, errorAnswers),
  })
  app.setErrorHandler(handleError)
  app.decorateRequest('route')
  app.addHook('onRequest', (request, reply, done) => {
    request.route = request.routeOptions
    runStepsInFastify(steps, request, reply, done)
  })
  answerUnknownExpectations(app.server, errorAnswers)
  return app
}

function refuseBadHost({ raw }: FastifyRequest): Error | undefined {
  const problem = findHostProblem(raw)
  return problem === undefined ? undefined : Object.assign(new Error(problem), { statusCode: 400 })
}
