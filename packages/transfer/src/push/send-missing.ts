import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { NetworkSettings } from '@shoal/network'
import { openNetwork } from '@shoal/network/requests'
import { ApiError, type MissingChunk, NetworkError } from '@shoal/protocol/client'
import { BytesRefusedError, FileChangedError } from '../errors.ts'
import type { PushEvent } from '../events.ts'
import { patience as newPatience } from '../patience.ts'
import type { ProgressMeter } from '../progress-meter.ts'
import { hashPart } from '../pull/hash-part.ts'
import { rateLimit } from '../rate-limit.ts'
import { TroubleError } from '../trouble.ts'
import { sendChunk } from './send-chunk.ts'

const maxAttempts = 5
const longestWaitMs = 2_000
const tickMs = 100

export type Sending = {
  path: string
  chunkSize: number
  fileSizeBytes: number
  missing: MissingChunk[]
  /** The chunk with a fresh URL, or undefined where the registry has it by now. */
  renew: (chunk: MissingChunk) => Promise<MissingChunk | undefined>
  connections: number
  network: NetworkSettings
  rateLimit: number | undefined
  giveUpMs: number
  meter: ProgressMeter
  signal: AbortSignal
  report: (event: PushEvent) => void
}

/** Sends chunks in parallel until the registry has them all. */
export async function sendMissing(sending: Sending): Promise<void> {
  const { path, missing, connections, fileSizeBytes, meter, report } = sending
  const stop = new AbortController()
  const signal = AbortSignal.any([sending.signal, stop.signal])
  const handle = await open(path, 'r')
  const network = openNetwork(sending.network, { connections })
  const clock = new BigInt64Array(new SharedArrayBuffer(8))
  const limit = rateLimit(sending.rateLimit, clock)
  const bytesBefore = fileSizeBytes - missing.reduce((sum, { size }) => sum + size, 0)
  const sentOf = new Map<number, number>()
  /** The most of each chunk that any attempt has sent: sending the same again and again is no progress. */
  const furthestOf = new Map<number, number>()
  let furtherBytes = 0
  let sentBytes = 0
  let next = 0
  const patience = newPatience({
    movedBytes: () => furtherBytes,
    longestWaitMs,
    giveUpMs: sending.giveUpMs,
    signal,
    report,
  })

  const showProgress = () => {
    patience.look()
    const here = [...sentOf.values()].reduce((sum, bytes) => sum + bytes, bytesBefore)
    report({ type: 'uploading', ...meter.read(here, sentBytes) })
  }

  async function sendOne(given: MissingChunk) {
    let chunk: MissingChunk | undefined = given
    let refusals = 0
    let troubles = 0
    while (chunk !== undefined) {
      await patience.gate()
      const { index } = chunk
      sentOf.set(index, 0)
      const onSent = (bytes: number) => {
        const sent = (sentOf.get(index) ?? 0) + bytes
        sentOf.set(index, sent)
        sentBytes += bytes
        furtherBytes += Math.max(0, sent - (furthestOf.get(index) ?? 0))
        furthestOf.set(index, Math.max(sent, furthestOf.get(index) ?? 0))
      }
      try {
        const { chunkSize } = sending
        await sendChunk({ network, handle, path, chunkSize, limit, signal, onSent }, chunk)
        return
      } catch (error) {
        sentOf.set(index, 0)
        if (error instanceof TroubleError) {
          troubles += 1
          await patience.endure(error.trouble, troubles)
          continue
        }
        refusals += 1
        chunk = await afterRefusal(error, chunk, refusals)
      }
    }
  }

  /** What to send instead: throws where that would be of no use. */
  async function afterRefusal(error: unknown, chunk: MissingChunk, refusals: number) {
    if (!(error instanceof ApiError) && !(error instanceof BytesRefusedError)) throw error
    const { status = 0 } = error
    const isExpired = [401, 403, 404].includes(status)
    const isMismatch = status === 400
    if (refusals >= maxAttempts || !(isExpired || isMismatch)) {
      // It is the address of the chunk that is refused, not whoever sends it.
      if (error.cause instanceof NetworkError) throw error.cause
      throw isExpired ? new BytesRefusedError(error.message, status) : error
    }
    if (isMismatch) {
      const actual = hashOfChunk(handle, chunk, sending.chunkSize)
      if (actual !== chunk.hash) throw new FileChangedError(path)
      report({ type: 'bad-chunk', index: chunk.index })
    }
    return sending.renew(chunk)
  }

  async function slot() {
    for (let chunk = missing[next++]; chunk !== undefined; chunk = missing[next++]) {
      await sendOne(chunk)
      sentOf.set(chunk.index, chunk.size)
    }
  }

  const ticker = setInterval(showProgress, tickMs)
  try {
    await Promise.all(Array.from({ length: connections }, slot))
    showProgress()
  } finally {
    clearInterval(ticker)
    stop.abort(new Error('the push is over'))
    await network.destroy()
    await handle.close()
  }
}

function hashOfChunk(handle: FileHandle, { index, size }: MissingChunk, chunkSize: number) {
  const hash = createHash('sha256')
  hashPart(handle.fd, hash, index * chunkSize, size)
  return hash.digest('hex')
}
