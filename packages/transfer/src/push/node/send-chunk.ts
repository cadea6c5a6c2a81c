import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { silenceTimer, sleep } from '@shoal/core/async'
import { describePage, hasCode } from '@shoal/core/errors'
import {
  failureOfAnswer,
  type Network,
  redirectRefused,
  sendRequest,
  toNetworkFailure,
} from '@shoal/network/requests'
import {
  ApiError,
  isTransient,
  type MissingChunk,
  NetworkError,
  type NetworkFailure,
  problemIn,
} from '@shoal/protocol/client'
import type { Dispatcher } from 'undici'
import { bytesRefused, fileChanged } from '../../errors.ts'
import { classifyNetworkError, classifyStatus, TransferError } from '../../failure.ts'
import type { RateLimit } from '../../rate-limit.ts'
import type { PutOptions } from '../push-port.ts'

const blockBytes = 256 * 1024
/** Maximum number of bytes to read from a response. An error response from the registry is a few hundred bytes long. */
const maxAnswerBytes = 64 * 1024

export type SendTools = {
  network: Network
  handle: FileHandle
  path: string
  chunkSize: number
  limit: RateLimit
}

/**
 * Sends one chunk. Rejects with a `TransferError` if sending it again may help; otherwise, with the registry's
 * `ApiError`, a `bytes_refused` error or a `NetworkError`.
 */
export async function sendChunk(
  tools: SendTools,
  { index, size, url, headers }: MissingChunk,
  options: PutOptions,
) {
  const { network, chunkSize } = tools
  const { signal } = options
  const target = new URL(url)
  // The timeout is longer than for a download, because the response is sent only after the chunk has been hashed and
  // stored.
  const silenceMs = 2 * network.settings.timeouts.headersMs
  const silence = new AbortController()
  const timer = silenceTimer(silenceMs, () => silence.abort())
  let failure: unknown

  async function* body() {
    try {
      for await (const bytes of readBlocks(tools, index * chunkSize, size, options)) {
        timer.refresh()
        yield bytes
      }
    } catch (error) {
      failure = error // undici would only report that the body ended too soon
      throw error
    }
  }

  try {
    const answer = await sendRequest(network, target, {
      method: 'PUT',
      headers: { ...headers, 'content-length': String(size) },
      body: Readable.from(body(), { objectMode: false }),
      headersTimeout: 0, // `silence` replaces these timeouts
      bodyTimeout: 0,
      signal: AbortSignal.any([signal, silence.signal]),
    })
    const text = await readStart(answer.body)
    if (answer.statusCode < 300 && text.trim() === '') return
    throw toAnswerError(network, target, answer, text)
  } catch (error) {
    signal.throwIfAborted()
    if (failure !== undefined) throw failure
    const isTyped = [ApiError, NetworkError, TransferError].some((type) => error instanceof type)
    if (isTyped || hasCode(error, 'bytes_refused')) throw error
    const isSilent = silence.signal.aborted
    const detail = `no data for ${silenceMs / 1000} s`
    const found: NetworkFailure = isSilent
      ? { code: 'unreachable', reason: 'timeout', host: target.host, detail }
      : toNetworkFailure(error, { url: target, proxy: network.findProxy(target) })
    throw toSendError(found)
  } finally {
    timer.stop()
  }
}

const toSendError = (failure: NetworkFailure) =>
  isTransient(failure)
    ? new TransferError(classifyNetworkError(failure))
    : new NetworkError(failure)

/** Converts a response other than a plain success to an error. */
function toAnswerError(
  network: Network,
  url: URL,
  { statusCode: status, headers }: Dispatcher.ResponseData,
  text: string,
): Error {
  const header = (name: string) => headers[name]?.toString()
  const { host } = url
  const proxy = network.findProxy(url)
  const contentType = header('content-type')
  // These statuses may mean that the URL has expired. In that case, the caller requests a new one.
  const mayBeExpired = [401, 403, 404].includes(status)
  const failure = failureOfAnswer({ url, proxy }, status, contentType, text)
  if (failure && !mayBeExpired) return toSendError(failure)
  if (status < 300) {
    // A store that accepts a chunk returns no body.
    const reason = contentType?.startsWith('text/html') ? 'html' : 'other_program'
    const detail = describePage(status, text)
    return toSendError({ code: 'not_a_registry', reason, host, detail })
  }
  if (status < 400) return redirectRefused(url, 'moved', `it redirects to ${header('location')}`)
  const problem = problemIn(text)
  const isFull = status === 507 || problem?.code === 'storage_full'
  const statusFailure = classifyStatus(status, host, header('retry-after'), text)
  if (statusFailure.kind === 'busy' && !isFull) return new TransferError(statusFailure)
  const cause = failure && new NetworkError(failure)
  const refused = bytesRefused(`${host} returned ${describePage(status, text)}`, status, { cause })
  return problem ? new ApiError(status, problem) : refused
}

async function* readBlocks(
  { handle, path, limit }: SendTools,
  start: number,
  size: number,
  { signal, onSent }: PutOptions,
) {
  for (let done = 0; done < size; ) {
    const block = Buffer.allocUnsafe(Math.min(blockBytes, size - done))
    const { bytesRead } = await handle.read(block, 0, block.length, start + done)
    if (bytesRead === 0) throw fileChanged(path)
    const waitMs = limit.take(bytesRead)
    if (waitMs > 1) await sleep(waitMs, signal)
    done += bytesRead
    onSent(done)
    yield block.subarray(0, bytesRead)
  }
}

/**
 * Reads the first `maxAnswerBytes` of a response, or slightly more. Closes the connection if the response is longer.
 */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes > maxAnswerBytes) break
  }
  return Buffer.concat(parts).toString()
}
