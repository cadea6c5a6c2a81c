import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import {
  type ChunkHash,
  chunkRange,
  chunkSizeFor,
  hashFileInWorker,
  makeManifest,
} from '@shoal/model-file'
import { directNetwork, type NetworkSettings } from '@shoal/network'
import type { ModelFile, RegistryClient } from '@shoal/protocol/client'
import type { PushEvent } from '../../events.ts'
import type { Limit } from '../../limit.ts'
import { type ProgressMeter, progressMeter } from '../../progress-meter.ts'
import type { RateClock } from '../../rate-limit.ts'
import { createRetrier } from '../../retrier.ts'
import { asyncQueue } from '../async-queue.ts'
import { pushBlob } from '../push-blob.ts'
import type { BlobPushEvent } from '../push-options.ts'
import { minBytesWhileHashing, pushWhileHashing } from '../push-while-hashing.ts'
import { nodePort } from './node-port.ts'

export type PushOptions = {
  client: RegistryClient
  /** The name (its slug) or ID of an existing model. */
  modelName: string
  path: string
  /** The filename on the registry. Default: the last part of `path`. */
  filename?: string | undefined
  /** Maximum number of parallel requests. Default: 5. */
  connections?: number | undefined
  /** Maximum number of bytes per second, for all connections together. */
  rateLimit?: Limit | undefined
  /** The state of the rate limit, if other pushes share it; `rateLimit` is then ignored. */
  rateClock?: RateClock | undefined
  signal?: AbortSignal | undefined
  onEvent?: ((event: PushEvent) => void) | undefined
  /** The push fails after this long without progress. Default: the network's `giveUpMs`. */
  timeoutMs?: number | undefined
  /** Default: direct connections. */
  network?: NetworkSettings | undefined
  /** Files of at least this size are sent while they are being hashed. Default: `minBytesWhileHashing`. */
  minBytesWhileHashing?: number | undefined
}

export const defaultConnections = 5
const maxWaitMs = 2_000
const tickMs = 100

/**
 * Uploads one file, and resolves when the file is ready on the registry. If the upload is stopped, the next call
 * resumes it.
 * @example
 * import { pushFile } from '@shoal/transfer'
 *
 * const { id } = await pushFile({ client, modelName: 'tide', path: 'tide-q4.gguf' })
 */
export async function pushFile(options: PushOptions): Promise<ModelFile> {
  const { client, modelName, path, rateLimit, rateClock, network = directNetwork } = options
  const filename = options.filename ?? basename(path)
  const signal = options.signal ?? new AbortController().signal
  const report = options.onEvent ?? (() => undefined)

  const { size: sizeBytes, mtimeMs } = await stat(path)
  const connections = Math.max(1, options.connections ?? defaultConnections)
  const chunkSize = chunkSizeFor(sizeBytes)
  const portOptions = {
    path,
    sizeBytes,
    mtimeMs,
    chunkSize,
    connections,
    rateLimit,
    rateClock,
    network,
  }
  await using port = nodePort(portOptions)
  using progress = progressReport(sizeBytes, report)
  const ended = new AbortController()
  const hash = (onChunk?: (index: number, hash: string) => void) =>
    hashFileInWorker(path, {
      signal: AbortSignal.any([signal, ended.signal]),
      onProgress: (bytesDone, bytesTotal) => report({ type: 'hashing', bytesDone, bytesTotal }),
      ...(onChunk && { onChunk }),
    }).then(makeManifest)
  const retrier = createRetrier({
    maxWaitMs,
    timeoutMs: options.timeoutMs ?? network.timeouts.giveUpMs,
    signal,
    host: new URL(client.baseUrl).host,
    report,
  })
  const push = { client, modelName, filename, port, retrier, signal, report: progress.onEvent }

  async function pushEarly() {
    const chunks = asyncQueue<ChunkHash>()
    const manifest = hash((index, hash) =>
      chunks.add({ index, hash, size: chunkRange(index, sizeBytes).size }),
    )
    try {
      return await pushWhileHashing({ ...push, sizeBytes, hashing: { chunks, manifest } })
    } finally {
      ended.abort(new Error('the push is over'))
      await manifest.catch(() => undefined) // if hashing failed, the push has failed with the same error
    }
  }

  const isLarge = sizeBytes >= (options.minBytesWhileHashing ?? minBytesWhileHashing)
  const pushed = isLarge ? await pushEarly() : await pushBlob({ ...push, manifest: await hash() })
  progress.end()
  report({ type: 'done' })
  return pushed
}

/**
 * Converts the events of the push engine to `PushEvent`s, and reports progress ten times a second while chunks are
 * sent.
 */
function progressReport(bytesTotal: number, report: (event: PushEvent) => void) {
  let meter: ProgressMeter | undefined
  let timer: ReturnType<typeof setInterval> | undefined
  let sent = { bytesHere: 0, bytesSent: 0 }

  const show = () => {
    meter ??= progressMeter(bytesTotal)
    report({ type: 'uploading', ...meter.read(sent.bytesHere, sent.bytesSent) })
  }
  function stop() {
    clearInterval(timer)
    timer = undefined
  }

  function end() {
    if (timer) show()
    stop()
  }

  return {
    end,
    onEvent(event: BlobPushEvent) {
      if (event.type === 'sent') {
        sent = event
        timer ??= setInterval(show, tickMs)
        return
      }
      end()
      if (event.type === 'processing') {
        report({ type: 'processing', bytesDone: bytesTotal, bytesTotal })
      } else if (event.type !== 'started') report(event)
    },
    [Symbol.dispose]: stop,
  }
}
