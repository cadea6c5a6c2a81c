/** One request for one chunk, through redirects and up to its last byte. */
import {
  failureOf,
  failureOfAnswer,
  maxRedirects,
  type Network,
  redirectRefused,
  redirectTarget,
} from '@shoal/network/requests'
import { NetworkError, type NetworkFailure } from '@shoal/protocol/client'
import type { Dispatcher } from 'undici'
import type { RateLimit } from '../rate-limit.ts'
import {
  type Trouble,
  TroubleError,
  troubleOfDisk,
  troubleOfNetwork,
  troubleOfStatus,
} from '../trouble.ts'
import type { Board } from './board.ts'
import { answerProblem } from './check-answer.ts'
import { type ChunkBody, chunkBody } from './chunk-body.ts'
import type { Chunk } from './manifest.ts'

export type ChunkRequest = {
  url: string
  /** Whether the URL yields the file, to be asked for a range, or exactly the chunk. */
  yields: 'file' | 'chunk'
  fileSizeBytes: number
  chunk: Chunk
  /** Bytes of the chunk that are on disk already. */
  from: number
}

export type FetchTools = {
  network: Network
  fd: number
  board: Board
  limit: RateLimit
  stallMs: number
  onBytes: (bytes: number) => void
}

/** The SHA-256 of the whole chunk. Rejects with a `TroubleError`, or with the signal's reason; no byte is written after that. */
export async function fetchChunk(
  tools: FetchTools,
  request: ChunkRequest,
  signal: AbortSignal,
): Promise<string> {
  let url = new URL(request.url)
  try {
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      const answer = await exchange(tools, request, url, signal)
      if ('sha256' in answer) return answer.sha256
      url = redirectTarget(url, answer.location)
    }
    throw redirectRefused(url, 'loop', `it redirects more than ${maxRedirects} times`)
  } catch (error) {
    throw error instanceof NetworkError ? new TroubleError(troubleOfNetwork(error.failure)) : error
  }
}

type Answer = { sha256: string } | { location: string }

function exchange(
  { network, fd, board, limit, stallMs, onBytes }: FetchTools,
  { yields, fileSizeBytes, chunk, from }: ChunkRequest,
  url: URL,
  signal: AbortSignal,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const { host } = url
  const proxy = network.proxyOf(url)
  let controller: Dispatcher.DispatchController | undefined
  let isOver = false
  let location: string | undefined
  let trouble: Trouble | undefined
  let body: ChunkBody | undefined

  let pauseTimer: NodeJS.Timeout | undefined
  const stallTimer = setTimeout(() => {
    if (pauseTimer !== undefined) stallTimer.refresh()
    else
      failAs({
        code: 'unreachable',
        reason: 'timeout',
        host,
        detail: `silent for ${stallMs / 1000} s`,
      })
  }, stallMs)
  const onAbort = () => end(() => reject(signal.reason))
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()

  function end(settle: () => void) {
    if (isOver) return
    isOver = true
    clearTimeout(stallTimer)
    clearTimeout(pauseTimer)
    signal.removeEventListener('abort', onAbort)
    settle()
    controller?.abort(new Error('no longer wanted'))
  }
  const fail = (found: Trouble) => end(() => reject(new TroubleError(found)))
  const failAs = (failure: NetworkFailure) => fail(troubleOfNetwork(failure))

  function waitFor(milliseconds: number) {
    controller?.pause()
    pauseTimer = setTimeout(() => {
      pauseTimer = undefined
      stallTimer.refresh()
      controller?.resume()
    }, milliseconds)
  }

  try {
    network.agentFor(url).dispatch(
      {
        // Our own clock watches for silence: it knows when the rate limit is the cause.
        headersTimeout: 0,
        bodyTimeout: 0,
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headers: {
          'accept-encoding': 'identity',
          ...(yields === 'file' && {
            range: `bytes=${chunk.start + from}-${chunk.start + chunk.size - 1}`,
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
          const header = (name: string) => headers[name]?.toString()
          location = status >= 300 && status < 400 ? header('location') : undefined
          if (location !== undefined) return
          const failure = failureOfAnswer({ url, proxy }, status, header('content-type'))
          trouble = failure
            ? { ...troubleOfNetwork(failure), status }
            : troubleOfStatus(status, url.host, header('retry-after'))
          if (trouble !== undefined) return
          const wanted = { start: chunk.start + from, size: chunk.size - from, fileSizeBytes }
          const problem = answerProblem(status, header, yields === 'file' ? wanted : chunk.size)
          if (problem === 'html') {
            const detail = 'answered a web page instead of the bytes'
            return failAs({ code: 'not_a_registry', reason: 'html', host, detail })
          }
          if (problem !== undefined) {
            return fail({ kind: 'refused', message: `${host} ${problem}`, status })
          }
          try {
            body = chunkBody(fd, board, chunk, from)
          } catch (error) {
            fail(troubleOfDisk(error, `chunk ${chunk.index}`))
          }
        },
        onResponseData(_, bytes) {
          if (isOver || body === undefined) return
          stallTimer.refresh()
          Atomics.add(board.received, 0, BigInt(bytes.length))
          const problem = body.take(bytes)
          if (problem !== undefined) return fail(problem)
          onBytes(bytes.length)
          const milliseconds = limit.take(bytes.length)
          if (milliseconds > 1) waitFor(milliseconds)
        },
        onResponseEnd() {
          if (location !== undefined) return end(() => resolve({ location: location as string }))
          if (trouble !== undefined) return fail(trouble)
          const sha256 = body?.finish()
          if (sha256 !== undefined) return end(() => resolve({ sha256 }))
          failAs({
            code: 'unreachable',
            reason: 'reset',
            host,
            detail: 'ended before the chunk did',
          })
        },
        onResponseError(_, error) {
          fail(trouble ?? troubleOfNetwork(failureOf(error, { url, proxy })))
        },
      },
    )
  } catch (error) {
    failAs(failureOf(error, { url, proxy }))
  }
  return promise
}
