import type { FastifyReply, FastifyRequest } from 'fastify'
import { busy } from '../errors.ts'
import { clientNetwork } from './client-network.ts'

type Options = {
  /** Maximum number of concurrent queries across all callers. */
  maxConcurrent: number
  /** Maximum number of waiting queries per caller. */
  maxWaitingPerCaller?: number
  maxWaiting?: number
}

export type QueryTurns = {
  /**
   * Runs a potentially slow query as soon as it is the caller's turn. Callers take turns, and each caller has at most
   * one query running. A caller is an account or, for anonymous requests, a network.
   * @throws busy if too many queries are waiting, or if the client has disconnected before its turn
   */
  run<T>(request: FastifyRequest, reply: FastifyReply, query: () => Promise<T>): Promise<T>
}

const retryAfterSeconds = 2

export function queryTurns({
  maxConcurrent,
  maxWaitingPerCaller = 64,
  maxWaiting = 512,
}: Options): QueryTurns {
  /** The waiting queries of each caller, in the order in which the callers take turns. */
  const waiting = new Map<string, (() => void)[]>()
  const running = new Set<string>()
  let waitingCount = 0

  function startNext() {
    for (const [caller, queries] of waiting) {
      if (running.size >= maxConcurrent) return
      if (running.has(caller)) continue
      const start = queries.shift()
      waiting.delete(caller)
      if (queries.length > 0) waiting.set(caller, queries) // moves the caller to the end of the queue
      waitingCount -= 1
      running.add(caller)
      start?.()
    }
  }

  function waitForTurn(caller: string): Promise<void> {
    const queries = waiting.get(caller) ?? []
    if (queries.length >= maxWaitingPerCaller || waitingCount >= maxWaiting) {
      throw busy(`too many concurrent searches: try again in ${retryAfterSeconds} s`, {
        code: 'too_many_searches',
        retryAfterSeconds,
      })
    }
    return new Promise((resolve) => {
      queries.push(resolve)
      waiting.set(caller, queries)
      waitingCount += 1
      startNext()
    })
  }

  return {
    async run(request, reply, query) {
      const caller = request.caller?.accountId ?? clientNetwork(request)
      await waitForTurn(caller)
      try {
        if (reply.raw.destroyed) throw busy('the client has disconnected')
        return await query()
      } finally {
        // Lets the process serve other requests first. Otherwise, queries on SQLite would run one after another without
        // a pause.
        setImmediate(() => {
          running.delete(caller)
          startNext()
        })
      }
    },
  }
}
