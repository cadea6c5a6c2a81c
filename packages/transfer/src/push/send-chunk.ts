import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { ApiError, type MissingChunk } from '@shoal/protocol/client'
import { type Agent, request } from 'undici'
import { FileChangedError } from '../errors.ts'
import type { RateLimit } from '../rate-limit.ts'
import { sleep } from '../sleep.ts'
import { TroubleError, troubleOfStatus, troubleOfSystem } from '../trouble.ts'

const blockBytes = 256 * 1024
/** Longer than for a download: the answer comes when the chunk is hashed and stored. */
const silenceMs = 60_000

export type SendTools = {
  agent: Agent
  handle: FileHandle
  path: string
  chunkSize: number
  limit: RateLimit
  signal: AbortSignal
  onSent: (bytes: number) => void
}

/** Sends one chunk. Rejects with a `TroubleError`, or with an `ApiError` where sending it again would not help. */
export async function sendChunk(tools: SendTools, { index, size, url, headers }: MissingChunk) {
  const { agent, signal, chunkSize } = tools
  const { host } = new URL(url)
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), silenceMs)
  let failure: unknown

  async function* body() {
    try {
      for await (const bytes of blocksOf(tools, index * chunkSize, size)) {
        timer.refresh()
        yield bytes
      }
    } catch (error) {
      failure = error // undici would only say that the body ended too soon
      throw error
    }
  }

  try {
    const answer = await request(url, {
      method: 'PUT',
      dispatcher: agent,
      headers: { ...headers, 'content-length': String(size) },
      body: Readable.from(body(), { objectMode: false }),
      signal: AbortSignal.any([signal, silence.signal]),
    })
    const text = await answer.body.text()
    if (answer.statusCode < 300) return
    const retryAfter = answer.headers['retry-after']?.toString()
    const trouble = troubleOfStatus(answer.statusCode, host, retryAfter)
    const problem = problemOf(answer.statusCode, text, host)
    const isFull = answer.statusCode === 507 || problem.problem.code === 'storage_full'
    throw trouble?.kind === 'busy' && !isFull ? new TroubleError(trouble) : problem
  } catch (error) {
    signal.throwIfAborted()
    if (failure !== undefined) throw failure
    if (error instanceof ApiError || error instanceof TroubleError) throw error
    throw new TroubleError(troubleOfSystem(error, 'lost', host))
  } finally {
    clearTimeout(timer)
  }
}

async function* blocksOf(
  { handle, path, limit, signal, onSent }: SendTools,
  start: number,
  size: number,
) {
  for (let done = 0; done < size; ) {
    const block = Buffer.allocUnsafe(Math.min(blockBytes, size - done))
    const { bytesRead } = await handle.read(block, 0, block.length, start + done)
    if (bytesRead === 0) throw new FileChangedError(path)
    const milliseconds = limit.take(bytesRead)
    if (milliseconds > 1) await sleep(milliseconds, signal)
    onSent(bytesRead)
    done += bytesRead
    yield block.subarray(0, bytesRead)
  }
}

/** The registry answers `{ detail }`; a store answers XML. */
function problemOf(status: number, text: string, host: string): ApiError {
  try {
    const body = JSON.parse(text)
    if (typeof body?.detail === 'string') return new ApiError(status, body)
  } catch {
    return new ApiError(status, { detail: `${host} answered ${status}` }) // no JSON: a store, or a proxy
  }
  return new ApiError(status, { detail: `${host} answered ${status}` })
}
