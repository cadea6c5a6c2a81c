/** Sends one request for a chunk or a part of it, follows redirects, and receives the bytes. */
import { silenceTimer } from '@shoal/core/async'
import {
  type Asked,
  followRedirects,
  type Network,
  type Redirect,
  readHead,
  type Step,
  toNetworkFailure,
} from '@shoal/network/requests'
import { NetworkError, type NetworkFailure } from '@shoal/protocol/client'
import type { Dispatcher } from 'undici'
import type { Board } from '../chunks/board.ts'
import { answerProblem } from '../chunks/check-answer.ts'
import {
  classifyDiskError,
  classifyNetworkError,
  classifyStatus,
  TransferError,
  type TransferFailure,
} from '../failure.ts'
import type { RateLimit } from '../rate-limit.ts'
import { type ChunkBody, chunkBody } from './chunk-body.ts'
import type { ChunkRequest } from './chunk-worker.ts'

export type FetchTools = {
  network: Network
  fd: number
  board: Board
  limit: RateLimit
  stallMs: number
  /** Called with the size of each buffer that is left for garbage collection. */
  onBuffer: (bytes: number) => void
}

/**
 * Downloads the requested bytes, and returns the SHA-256 of the chunk up to `to`. Rejects with a `TransferError` or the
 * signal's reason; nothing is written after that.
 */
export async function fetchChunk(
  tools: FetchTools,
  request: ChunkRequest,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await followRedirects(tools.network, new URL(request.url), (asked) =>
      exchange(tools, request, asked, signal),
    )
  } catch (error) {
    throw error instanceof NetworkError
      ? new TransferError(classifyNetworkError(error.failure))
      : error
  }
}

function exchange(
  { network, fd, board, limit, stallMs, onBuffer }: FetchTools,
  { yields, fileSizeBytes, chunk, from, to }: ChunkRequest,
  asked: Asked,
  signal: AbortSignal,
): Promise<Step<string>> {
  const { promise, resolve, reject } = Promise.withResolvers<Step<string>>()
  const { url } = asked
  const { host } = url
  let controller: Dispatcher.DispatchController | undefined
  let isOver = false
  let redirect: Redirect | undefined
  let responseFailure: TransferFailure | undefined
  let body: ChunkBody | undefined

  let pauseTimer: NodeJS.Timeout | undefined
  const stallTimer = silenceTimer(stallMs, () => {
    if (pauseTimer !== undefined) stallTimer.refresh()
    else
      failAs({
        code: 'unreachable',
        reason: 'timeout',
        host,
        detail: `no data for ${stallMs / 1000} s`,
      })
  })
  const onAbort = () => end(() => reject(signal.reason))
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()

  function end(settle: () => void) {
    if (isOver) return
    isOver = true
    stallTimer.stop()
    clearTimeout(pauseTimer)
    signal.removeEventListener('abort', onAbort)
    settle()
    controller?.abort(new Error('no longer wanted'))
  }
  const fail = (found: TransferFailure) => end(() => reject(new TransferError(found)))
  const failAs = (failure: NetworkFailure) => fail(classifyNetworkError(failure))

  function waitFor(waitMs: number) {
    controller?.pause()
    pauseTimer = setTimeout(() => {
      pauseTimer = undefined
      stallTimer.refresh()
      controller?.resume()
    }, waitMs)
  }

  try {
    network.agentFor(url).dispatch(
      {
        // `stallTimer` replaces these timeouts, because it does not count pauses that the rate limit causes.
        headersTimeout: 0,
        bodyTimeout: 0,
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headers: {
          'accept-encoding': 'identity',
          ...(yields === 'file' && {
            range: `bytes=${chunk.start + from}-${chunk.start + to - 1}`,
          }),
        },
      },
      {
        onRequestStart(given) {
          controller = given
          if (isOver) given.abort(new Error('no longer wanted'))
        },
        onResponseStart(_, status, headers) {
          stallTimer.refresh()
          const head = readHead(asked, status, headers)
          const { header, failure } = head
          redirect = head.redirect
          if (redirect) return
          responseFailure = failure
            ? { ...classifyNetworkError(failure), status }
            : classifyStatus(status, host, header('retry-after'))
          if (responseFailure !== undefined) return
          const wanted = { start: chunk.start + from, size: to - from, fileSizeBytes }
          const problem = answerProblem(status, header, yields === 'file' ? wanted : chunk.size)
          if (problem === 'html') {
            const detail = 'it returned a web page instead of the file'
            return failAs({ code: 'not_a_registry', reason: 'html', host, detail })
          }
          if (problem !== undefined) {
            return fail({ kind: 'refused', message: `${host} ${problem}`, status })
          }
          try {
            body = chunkBody(fd, board, { chunk, from, to })
          } catch (error) {
            fail(classifyDiskError(error, `chunk ${chunk.index}`))
          }
        },
        onResponseData(_, bytes) {
          if (isOver || body === undefined) return
          stallTimer.refresh()
          Atomics.add(board.received, 0, BigInt(bytes.length))
          const problem = body.take(bytes)
          if (problem !== undefined) return fail(problem)
          if (asked.proxy !== undefined) onBuffer(bytes.length) // connections without a proxy share one buffer
          const waitMs = limit.take(bytes.length)
          if (waitMs > 1) waitFor(waitMs)
        },
        onResponseEnd() {
          const found = redirect
          if (found) return end(() => resolve({ redirect: found }))
          if (responseFailure !== undefined) return fail(responseFailure)
          const sha256 = body?.finish()
          if (sha256 !== undefined) return end(() => resolve({ result: sha256 }))
          failAs({
            code: 'unreachable',
            reason: 'reset',
            host,
            detail: 'the response ended before the chunk was complete',
          })
        },
        onResponseError(_, error) {
          fail(responseFailure ?? classifyNetworkError(toNetworkFailure(error, asked)))
        },
      },
    )
  } catch (error) {
    failAs(toNetworkFailure(error, asked))
  }
  return promise
}
