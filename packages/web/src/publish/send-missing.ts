import { type ChunkManifest, hashChunkOfBlob } from '@shoal/model-file/browser'
import { ApiError, type MissingChunk } from '@shoal/protocol/client'
import { checkUnchanged, FileChangedError } from './file-changed.ts'
import type { Patience } from './patience.ts'
import { putChunk } from './put-chunk.ts'
import { TroubleError } from './trouble.ts'

/** A browser opens six connections to a host: two are left for the page. */
const connections = 4
const mostRefusals = 5
/** Less is no progress: a socket takes a little also where nobody listens any more. */
const stepBytes = 1024 * 1024

type Sending = {
  file: File
  manifest: ChunkManifest
  missing: readonly MissingChunk[]
  /** The chunk with a fresh URL, or undefined where the registry has it by now. */
  renew: (chunk: MissingChunk) => Promise<MissingChunk | undefined>
  patience: Patience
  signal: AbortSignal
  /** How much of a chunk the registry has, as far as one can see from here. */
  onSent: (index: number, bytes: number) => void
}

/** Sends chunks in parallel until the registry has them all. */
export async function sendMissing(sending: Sending): Promise<void> {
  const { file, manifest, patience, onSent } = sending
  const stop = new AbortController()
  const signal = AbortSignal.any([sending.signal, stop.signal])
  const queue = sending.missing.values()
  /** The most of each chunk that any attempt has sent. */
  const furthestOf = new Map<number, number>()

  async function slot() {
    for (const chunk of queue) {
      await sendOne(chunk)
      onSent(chunk.index, chunk.size)
    }
  }

  async function sendOne(given: MissingChunk) {
    let chunk: MissingChunk | undefined = given
    let troubles = 0
    let refusals = 0
    while (chunk) {
      await patience.gate()
      try {
        await putOne(chunk)
        return
      } catch (error) {
        signal.throwIfAborted()
        onSent(chunk.index, 0)
        if (error instanceof TroubleError) {
          await checkUnchanged(file)
          troubles += 1
          await patience.endure(error, troubles)
        } else {
          refusals += 1
          chunk = await afterRefusal(error, chunk, refusals)
        }
      }
    }
  }

  async function putOne(chunk: MissingChunk) {
    const start = chunk.index * manifest.chunk_size
    await putChunk({
      chunk,
      bytes: file.slice(start, start + chunk.size),
      signal,
      onSent(bytes) {
        const furthest = furthestOf.get(chunk.index) ?? 0
        if (bytes >= furthest + stepBytes) {
          furthestOf.set(chunk.index, bytes)
          patience.noteMove()
        }
        onSent(chunk.index, bytes)
      },
    })
    patience.noteMove()
  }

  /** What to send instead: throws where that would be of no use. */
  async function afterRefusal(error: unknown, chunk: MissingChunk, refusals: number) {
    if (!(error instanceof ApiError) || refusals >= mostRefusals) throw error
    const isExpired = [401, 403, 404].includes(error.status)
    if (error.status !== 400 && !isExpired) throw error
    const isOtherNow =
      error.status === 400 && (await hashChunkOfBlob(file, chunk.index)) !== chunk.hash
    if (isOtherNow) throw new FileChangedError(file.name)
    return sending.renew(chunk)
  }

  try {
    await Promise.all(Array.from({ length: connections }, slot))
  } finally {
    stop.abort(new Error('the upload is over'))
  }
}
