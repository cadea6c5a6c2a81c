import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { conflict, invalid } from '../errors.ts'
import { untilStalled } from './until-stalled.ts'

const flushSize = 1024 * 1024

export type ExpectedChunk = { index: number; hash: string; start: number; size: number }

/** Takes one chunk of an upload. Wrong bytes are refused (`chunk_mismatch`) and do not count; a stored chunk stays as it is. */
export type ChunkWriter = (
  key: string,
  chunk: ExpectedChunk,
  body: AsyncIterable<Buffer>,
) => Promise<void>

type Places = { uploadPath(key: string): string; mapPath(key: string): string }

/** For so long a sender may send nothing: alone with its chunk, and while others wait to send the same. */
export type PatienceMs = { alone: number; waitedFor: number }

/**
 * Writes chunks to their place in the upload's file while they arrive, and marks them in the map when length and hash are
 * right. The chunks of one upload come in any order and in parallel; senders of the same chunk take turns, so that a bad
 * one never writes over what a good one has sent. A sender that stops is cut off: soon, when another waits for its turn,
 * which has the whole chunk to send, so that nothing is lost by it. One that sends slowly is not: two of those would
 * cut each other off for ever.
 */
export function chunkWriter({ uploadPath, mapPath }: Places, patienceMs: PatienceMs): ChunkWriter {
  const turns = new Map<string, { senders: number; last: Promise<void> }>()

  return async (key, chunk, body) => {
    const name = `${key}/${chunk.index}`
    const turn = turns.get(name) ?? { senders: 0, last: Promise.resolve() }
    turns.set(name, turn)
    turn.senders += 1
    const limitMs = () => (turn.senders > 1 ? patienceMs.waitedFor : patienceMs.alone)
    const written = turn.last.then(() =>
      writeChunk(uploadPath(key), mapPath(key), chunk, untilStalled(body, limitMs)),
    )
    turn.last = written.catch(() => undefined) // its own sender is told
    try {
      await written
    } finally {
      turn.senders -= 1
      if (turn.senders === 0) turns.delete(name)
    }
  }
}

async function writeChunk(
  path: string,
  mapPath: string,
  chunk: ExpectedChunk,
  body: AsyncIterable<Buffer>,
) {
  const map = await openUpload(mapPath)
  try {
    const mark = Buffer.alloc(1)
    await map.read(mark, 0, 1, chunk.index)
    const file = await openUpload(path)
    try {
      await receive(mark[0] === 1 ? undefined : file, chunk, body)
    } finally {
      await file.close()
    }
    if (mark[0] !== 1) await map.write(Buffer.of(1), 0, 1, chunk.index)
  } finally {
    await map.close()
  }
}

/** Hashes the body and, where there is a file, writes it. Throws when it is not the chunk. */
async function receive(
  file: FileHandle | undefined,
  chunk: ExpectedChunk,
  body: AsyncIterable<Buffer>,
) {
  const hash = createHash('sha256')
  let received = 0
  let waiting: Buffer[] = []
  let waitingBytes = 0

  async function flush() {
    if (file && waitingBytes > 0) {
      const position = chunk.start + received - waitingBytes
      await writeFully(file, waiting, position)
    }
    waiting = []
    waitingBytes = 0
  }

  for await (const bytes of body) {
    received += bytes.length
    if (received > chunk.size) throw chunkMismatch(chunk, `is longer than ${chunk.size} bytes`)
    hash.update(bytes)
    waiting.push(bytes)
    waitingBytes += bytes.length
    if (waitingBytes >= flushSize) await flush()
  }
  if (received < chunk.size) {
    throw chunkMismatch(chunk, `has ${received} bytes, not ${chunk.size}`)
  }
  if (hash.digest('hex') !== chunk.hash) throw chunkMismatch(chunk, 'does not have its hash')
  await flush()
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

export function chunkMismatch(chunk: ExpectedChunk, what: string) {
  return invalid(`chunk ${chunk.index} ${what}; nothing of it was kept`, { code: 'chunk_mismatch' })
}

async function openUpload(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw conflict('this upload is no longer open')
    }
    throw error
  }
}
