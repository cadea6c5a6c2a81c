/**
 * The steps that every request goes through before it is answered, such as the log, checks and limits. There is one
 * list of steps for both ways in: Fastify, and a shortcut that answers requests without Fastify.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findHostProblem } from './host-header.ts'
import { readRequestId } from './request-id.ts'

/** What is known about a request on both ways in. */
export type StepRequest = Pick<
  FastifyRequest,
  'id' | 'ip' | 'method' | 'url' | 'headers' | 'socket' | 'route'
>

export interface StepReply {
  readonly raw: ServerResponse
  /** Adds a header to the response. */
  header(name: string, value: string | number): unknown
}

/** A response without a body. */
export type EmptyAnswer = { status: number; headers: Record<string, string | number> }

/** Undefined if the request may proceed. Otherwise, the request is answered with the error, or with an empty response. */
export type StepResult = Error | EmptyAnswer | undefined

/** A step that rejects is treated as one that returns the error. A step must not throw. */
export type Step<Request extends StepRequest> = (
  request: Request,
  reply: StepReply,
) => StepResult | Promise<StepResult>

/** A request that can be answered without Fastify. */
export type KnownRequest<Request extends StepRequest> = {
  request: Request
  /** Runs after all steps. If it rejects, the error is sent instead of the response. */
  beforeSend?: (() => Promise<void>) | undefined
  /** Sends the response with these additional headers: alternating names and values. */
  send(response: ServerResponse, headers: (string | number)[]): void
}

/** Finds the response to a request. Returns undefined if Fastify has to answer the request. */
export type Shortcut<Request extends StepRequest> = (
  request: IncomingMessage,
) => KnownRequest<Request> | undefined

/** The result of the steps that a request went through before it was passed on to Fastify. */
type Ended = { id: string; headers: (string | number)[]; result: NonNullable<StepResult> }

const ended = new WeakMap<IncomingMessage, Ended>()

/** Returns the ID of a request, which is the same on both ways in. */
export const requestId = (request: IncomingMessage): string =>
  ended.get(request)?.id ?? readRequestId(request)

/**
 * Creates Fastify's server. Requests for which `shortcut` finds a response go through the steps and are answered. All
 * other requests are passed on to Fastify. If a step ends a request, Fastify sends the response, so that error
 * responses are created in only one place.
 */
export function serverWithShortcut<Request extends StepRequest>(
  answerByFastify: RequestListener,
  options: ServerOptions,
  { steps, shortcut }: { steps: readonly Step<Request>[]; shortcut: Shortcut<Request> },
): Server {
  const server = createServer(options, (raw, response) => {
    // A server that is shutting down no longer listens. Fastify then closes the connections.
    const mayBeKnown = server.listening && findHostProblem(raw) === undefined
    const known = mayBeKnown ? shortcut(raw) : undefined
    if (!known) return answerByFastify(raw, response)
    const { request, beforeSend, send } = known
    const reply = new ShortReply(response)
    const finish = (result: StepResult) => {
      const { headers } = reply
      if (result) {
        ended.set(raw, { id: request.id, headers, result })
        return answerByFastify(raw, response)
      }
      if (!server.listening) response.shouldKeepAlive = false
      send(response, headers)
    }
    const proceed = (result: StepResult) => {
      if (result || !beforeSend) finish(result)
      else
        beforeSend().then(
          () => finish(undefined),
          (error) => finish(toError(error)),
        )
    }
    const result = runSteps(steps, request, reply)
    if (result instanceof Promise) result.then(proceed)
    else proceed(result)
  })
  return server
}

/** Runs the steps for a request that Fastify answers. `done` is the callback of Fastify's hook `onRequest`. */
export function runStepsInFastify(
  steps: readonly Step<FastifyRequest>[],
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  const finish = (result: StepResult) => {
    if (result === undefined || result instanceof Error) return done(result)
    reply.code(result.status).headers(result.headers).send()
  }
  const earlier = ended.get(request.raw)
  if (earlier) {
    const { headers } = earlier
    for (let at = 0; at < headers.length; at += 2) {
      reply.header(String(headers[at]), headers[at + 1])
    }
    finish(earlier.result)
    return
  }
  const result = runSteps(steps, request, reply)
  if (result instanceof Promise) result.then(finish)
  else finish(result)
}

/** Runs the steps until one of them ends the request. Never rejects. */
function runSteps<Request extends StepRequest>(
  steps: readonly Step<Request>[],
  request: Request,
  reply: StepReply,
  first = 0,
): StepResult | Promise<StepResult> {
  for (let at = first; at < steps.length; at += 1) {
    const result = steps[at]?.(request, reply)
    if (result instanceof Promise) {
      return result.then((end) => end ?? runSteps(steps, request, reply, at + 1), toError)
    }
    if (result) return result
  }
  return undefined
}

const toError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(`thrown: ${thrown}`)

class ShortReply implements StepReply {
  readonly headers: (string | number)[] = []
  readonly raw: ServerResponse

  constructor(raw: ServerResponse) {
    this.raw = raw
  }

  header(name: string, value: string | number) {
    this.headers.push(name, value)
  }
}
