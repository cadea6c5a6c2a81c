import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { hashFileInWorker, makeManifest } from '@shoal/model-file'
import { directNetwork, type NetworkSettings } from '@shoal/network'
import type { ModelFile, RegistryClient } from '@shoal/protocol/client'
import type { PushEvent } from '../../events.ts'
import { type ProgressMeter, progressMeter } from '../../progress-meter.ts'
import { createRetrier } from '../../retrier.ts'
import { pushBlob } from '../push-blob.ts'
import type { BlobPushEvent } from '../push-options.ts'
import { nodePort } from './node-port.ts'

export type PushOptions = {
  client: RegistryClient
  /** The model's name (its slug) or id. The model is there already. */
  modelName: string
  path: string
  /** The name under which the registry lists it. Default: the path's last part. */
  filename?: string | undefined
  /** Requests at a time. Default 5. */
  connections?: number | undefined
  /** Bytes per second, over all connections. */
  rateLimit?: number | undefined
  signal?: AbortSignal | undefined
  onEvent?: ((event: PushEvent) => void) | undefined
  /** Fail when nothing has got through for so long. Default: the network's. */
  timeoutMs?: number | undefined
  /** Default: straight to the registry. */
  network?: NetworkSettings | undefined
}

const maxWaitMs = 2_000
const tickMs = 100

/**
 * Uploads one file, and resolves when the registry serves it. Stopped in any way, the next call goes on from there.
 * @example
 * import { pushFile } from '@shoal/transfer'
 *
 * const { id } = await pushFile({ client, modelName: 'tide', path: 'tide-q4.gguf' })
 */
export async function pushFile(options: PushOptions): Promise<ModelFile> {
  const { client, modelName, path, rateLimit, network = directNetwork } = options
  const filename = options.filename ?? basename(path)
  const signal = options.signal ?? new AbortController().signal
  const report = options.onEvent ?? (() => undefined)

  const { size: sizeBytes, mtimeMs } = await stat(path)
  const hashes = await hashFileInWorker(path, {
    signal,
    onProgress: (bytesDone, bytesTotal) => report({ type: 'hashing', bytesDone, bytesTotal }),
  })
  const manifest = makeManifest(hashes)
  const connections = Math.max(1, options.connections ?? 5)
  const chunkSize = manifest.chunk_size
  const portOptions = { path, sizeBytes, mtimeMs, chunkSize, connections, rateLimit, network }
  await using port = nodePort(portOptions)
  using progress = progressReport(manifest.file_size_bytes, report)
  const retrier = createRetrier({
    maxWaitMs,
    timeoutMs: options.timeoutMs ?? network.timeouts.giveUpMs,
    signal,
    host: new URL(client.baseUrl).host,
    report,
  })
  const push = { client, modelName, filename, manifest, port, retrier, signal }
  const pushed = await pushBlob({ ...push, report: progress.onEvent })
  progress.end()
  report({ type: 'done' })
  return pushed
}

/** Turns what the engine says into the events of a push: while chunks are sent, it tells how far they are ten times a second. */
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
