/** One request for one chunk, through redirects and up to its last byte. */
import type { Agent, Dispatcher } from 'undici'
import type { RateLimit } from '../rate-limit.ts'
import { type Trouble, TroubleError, troubleOfStatus, troubleOfSystem } from '../trouble.ts'
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
  /** Keep the bytes in memory, since another request is writing the same chunk. */
  isSpare: boolean
}

export type FetchedChunk = {
  /** Of the whole chunk, with what was on disk before. */
  sha256: string
  /** The bytes from `from` on, of a spare. */
  held: Uint8Array | undefined
}

export type FetchTools = {
  agent: Agent
  fd: number
  board: Board
  limit: RateLimit
  stallMs: number
  onBytes: (bytes: number) => void
}

const mostRedirects = 5

/** Rejects with a `TroubleError`, or with the signal's reason; no byte is written after that. */
export async function fetchChunk(
  tools: FetchTools,
  request: ChunkRequest,
  signal: AbortSignal,
): Promise<FetchedChunk> {
  let url = new URL(request.url)
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new TroubleError({ kind: 'refused', message: `${url.protocol} is not followed` })
    }
    const answer = await exchange(tools, request, url, signal)
    if ('sha256' in answer) return answer
    url = new URL(answer.location, url)
  }
  throw new TroubleError({ kind: 'refused', message: `${url.host} redirects without end` })
}

type Answer = FetchedChunk | { location: string }

function exchange(
  { agent, fd, board, limit, stallMs, onBytes }: FetchTools,
  { yields, fileSizeBytes, chunk, from, isSpare }: ChunkRequest,
  url: URL,
  signal: AbortSignal,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  let controller: Dispatcher.DispatchController | undefined
  let isOver = false
  let location: string | undefined
  let trouble: Trouble | undefined
  let body: ChunkBody | undefined

  let pauseTimer: NodeJS.Timeout | undefined
  const stallTimer = setTimeout(() => {
    if (pauseTimer !== undefined) stallTimer.refresh()
    else fail({ kind: 'lost', message: `${url.host} was silent for ${stallMs / 1000} s` })
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

  function waitFor(milliseconds: number) {
    controller?.pause()
    pauseTimer = setTimeout(() => {
      pauseTimer = undefined
      stallTimer.refresh()
      controller?.resume()
    }, milliseconds)
  }

  agent.dispatch(
    {
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
        trouble = troubleOfStatus(status, url.host, header('retry-after'))
        if (trouble !== undefined) return
        const wanted = { start: chunk.start + from, size: chunk.size - from, fileSizeBytes }
        const problem = answerProblem(status, header, yields === 'file' ? wanted : chunk.size)
        if (problem !== undefined) {
          return fail({ kind: 'refused', message: `${url.host} ${problem}`, status })
        }
        try {
          body = chunkBody(fd, board, chunk, { from, isSpare })
        } catch (error) {
          fail(troubleOfSystem(error, 'disk', `chunk ${chunk.index}`))
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
        const fetched = body?.finish()
        if (fetched !== undefined) return end(() => resolve(fetched))
        fail({ kind: 'lost', message: `${url.host} ended before the chunk did` })
      },
      onResponseError(_, error) {
        fail(trouble ?? troubleOfSystem(error, 'lost', url.host))
      },
    },
  )
  return promise
}
