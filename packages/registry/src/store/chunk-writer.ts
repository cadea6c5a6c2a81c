import { type FileHandle, open } from 'node:fs/promises'
import { isErrno } from '@shoal/files'
import { conflict } from '../errors.ts'
import { isStorageFull } from '../unavailable.ts'
import type { ByteBudget } from './byte-budget.ts'
import { chunkRefused, type DiskSpace } from './disk-space.ts'
import { openSenders } from './open-senders.ts'
import { punchHole } from './punch-hole.ts'
import type { ReadBack } from './read-back.ts'
import { type ExpectedChunk, type Incoming, receiveChunk } from './receive-chunk.ts'
import { untilStalled } from './until-stalled.ts'

/**
 * Receives one chunk of an upload. Incorrect bytes are refused (`chunk_mismatch`). A chunk that is already stored is
 * not changed.
 */
export type ChunkWriter = (
  key: string,
  chunk: ExpectedChunk,
  body: AsyncIterable<Buffer>,
) => Promise<void>

type Options = {
  uploadPath(key: string): string
  mapPath(key: string): string
  space: Pick<DiskSpace, 'checkChunkFits'>
  budget: ByteBudget
  readBack: Pick<ReadBack, 'stored' | 'drop'>
  senderTimeoutMs: SenderTimeoutMs
}

/**
 * How long a sender may pause: `alone` applies while no other sender is waiting to send the same chunk, and `waitedFor`
 * applies while one is.
 */
export type SenderTimeoutMs = { alone: number; waitedFor: number }

/**
 * `full` and `blocks-kept` mean that the disk is full. With `full`, the disk blocks of this chunk were freed. With
 * `blocks-kept`, they could not be freed.
 */
type Outcome = 'stored' | 'full' | 'blocks-kept'

/**
 * Writes chunks to their place in the upload's file as they arrive. If a chunk's length and hash are correct, marks it
 * as stored in the upload's map (see `disk-store.ts`). An upload's chunks may arrive in any order and in parallel.
 * Senders of the same chunk take turns, so that a bad sender never overwrites the bytes of a good one. A sender that
 * stops sending is disconnected after a timeout, which is shorter if another sender is waiting. No data is lost,
 * because the waiting sender sends the complete chunk. A slow sender is not disconnected, because otherwise two slow
 * senders of the same chunk would disconnect each other forever.
 *
 * The disk blocks of a refused chunk are freed. If the disk is full and these blocks cannot be freed separately, all of
 * the upload's chunks are discarded and must be sent again. Otherwise, the disk would stay full.
 */
export function chunkWriter(options: Options) {
  const { uploadPath, mapPath, space, budget, readBack, senderTimeoutMs } = options
  const turns = new Map<string, { senders: number; last: Promise<unknown> }>()
  const senders = openSenders()
  const clearings = new Map<string, Promise<void>>()

  const write: ChunkWriter = async (key, chunk, body) => {
    await clearings.get(key)
    const outcome = await senders.run(key, (signal) => writeInTurn(key, chunk, body, signal))
    if (outcome === 'stored') return
    const refusal = chunkRefused(chunk.size)
    if (outcome === 'blocks-kept') await clear(key, refusal)
    throw refusal
  }

  async function writeInTurn(
    key: string,
    chunk: ExpectedChunk,
    body: AsyncIterable<Buffer>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const name = `${key}/${chunk.index}`
    const turn = turns.get(name) ?? { senders: 0, last: Promise.resolve() }
    turns.set(name, turn)
    turn.senders += 1
    const getTimeoutMs = () =>
      turn.senders > 1 ? senderTimeoutMs.waitedFor : senderTimeoutMs.alone
    const written = turn.last.then(async () => {
      const share = budget.join()
      try {
        const incoming = { chunk, body: untilStalled(body, getTimeoutMs, signal), share }
        return await writeChunk(key, incoming, signal)
      } finally {
        share.leave()
      }
    })
    turn.last = written.catch(() => undefined) // the sender receives the error
    try {
      return await written
    } finally {
      turn.senders -= 1
      if (turn.senders === 0) turns.delete(name)
    }
  }

  async function writeChunk(
    key: string,
    incoming: Incoming,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { chunk } = incoming
    const map = await openUpload(mapPath(key))
    try {
      const mark = Buffer.alloc(1)
      await map.read(mark, 0, 1, chunk.index)
      if (mark[0] === 1) {
        await receiveChunk(undefined, incoming)
        return 'stored'
      }
      await space.checkChunkFits(chunk.size)
      const outcome = await keepChunk(uploadPath(key), map, incoming, signal)
      if (outcome === 'stored') readBack.stored(key, chunk.index)
      return outcome
    } finally {
      await map.close()
    }
  }

  /**
   * Discards all chunks of an upload. All other senders of chunks to this upload are disconnected, because their chunks
   * would contain holes.
   */
  async function clear(key: string, reason: Error) {
    const clearing = (clearings.get(key) ?? Promise.resolve()).then(async () => {
      await senders.stop(key, reason)
      await readBack.drop(key)
      await emptyUpload(uploadPath(key), mapPath(key))
    })
    clearings.set(key, clearing)
    try {
      await clearing
    } finally {
      if (clearings.get(key) === clearing) clearings.delete(key)
    }
  }

  return {
    write,
    /** Disconnects all senders to an upload, and resolves after they have closed the upload's files. */
    stop: (key: string) => senders.stop(key, uploadGone()),
  }
}

async function keepChunk(
  path: string,
  map: FileHandle,
  incoming: Incoming,
  signal: AbortSignal,
): Promise<Outcome> {
  const { chunk } = incoming
  const file = await openUpload(path)
  let isTouched = false
  try {
    await receiveChunk((buffers, position) => {
      isTouched = true
      return writeFully(file, buffers, position)
    }, incoming)
    await map.write(Buffer.of(1), 0, 1, chunk.index)
    return 'stored'
  } catch (error) {
    const isFull = error instanceof Error && isStorageFull(error)
    const isGivenBack = isTouched && !signal.aborted && (await punchHole(path, chunk))
    if (!isFull) throw error
    return isGivenBack ? 'full' : 'blocks-kept'
  } finally {
    await file.close()
  }
}

async function emptyUpload(path: string, mapPath: string) {
  const map = await openUpload(mapPath)
  try {
    const { size } = await map.stat()
    await map.write(Buffer.alloc(size), 0, size, 0)
  } finally {
    await map.close()
  }
  const file = await openUpload(path)
  try {
    const { size } = await file.stat()
    await file.truncate(0)
    await file.truncate(size)
  } finally {
    await file.close()
  }
}

function uploadGone() {
  return conflict('this upload is no longer open')
}

async function openUpload(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) {
      throw uploadGone()
    }
    throw error
  }
}

async function writeFully(file: FileHandle, buffers: Buffer[], position: number) {
  const total = buffers.reduce((sum, { length }) => sum + length, 0)
  const { bytesWritten } = await file.writev(buffers, position)
  if (bytesWritten === total) return
  const rest = Buffer.concat(buffers).subarray(bytesWritten)
  for (let written = 0; written < rest.length; ) {
    const at = position + bytesWritten + written
    written += (await file.write(rest, written, rest.length - written, at)).bytesWritten
  }
}
