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
import { diskFailure } from '../disk/room.ts'
import {
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

/** Number of characters of an error response to keep: enough for the title of a page, or for a store's reason. */
const maxErrorLength = 4_096

/** Returns the failure for an error response. */
function classifyAnswer(
  asked: Asked,
  status: number,
  headers: Record<string, string | string[] | undefined>,
  text: string,
): TransferFailure {
  const { header, failure } = readHead(asked, status, headers, text)
  const { host } = asked.url
  if (failure) return { ...classifyNetworkError(failure), status }
  return classifyStatus(status, host, header('retry-after'), text)
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
  /** Set if the response is an error. Called with the beginning of its body. */
  let toResponseFailure: ((text: string) => TransferFailure) | undefined
  let errorText = ''
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
          const { header, ...head } = readHead(asked, status, headers)
          redirect = head.redirect
          if (redirect) return
          if (status >= 400) {
            toResponseFailure = (text) => classifyAnswer(asked, status, headers, text)
            return
          }
          const wanted = { start: chunk.start + from, size: to - from, fileSizeBytes }
          const problem = answerProblem(status, header, yields === 'file' ? wanted : chunk.size)
          if (problem === 'html') {
            const detail = `status ${status}`
            return failAs({ code: 'not_a_registry', reason: 'html', host, detail })
          }
          if (problem !== undefined) {
            return fail({ kind: 'refused', message: `${host} ${problem}`, status })
          }
          try {
            body = chunkBody(fd, board, { chunk, from, to })
          } catch (error) {
            fail(diskFailure(error))
          }
        },
        onResponseData(_, bytes) {
          if (isOver) return
          if (toResponseFailure && errorText.length < maxErrorLength) errorText += bytes.toString()
          if (body === undefined) return
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
          if (toResponseFailure) return fail(toResponseFailure(errorText))
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
          const lost = () => classifyNetworkError(toNetworkFailure(error, asked))
          fail(toResponseFailure?.(errorText) ?? lost())
        },
      },
    )
  } catch (error) {
    failAs(toNetworkFailure(error, asked))
  }
  return promise
}
