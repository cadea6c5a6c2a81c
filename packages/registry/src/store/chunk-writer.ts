import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { conflict, invalid } from '../errors.ts'

const flushSize = 1024 * 1024

export type ExpectedChunk = { index: number; hash: string; start: number; size: number }

/** Takes one chunk of an upload. Wrong bytes are refused (`chunk_mismatch`) and do not count; a stored chunk stays as it is. */
export type ChunkWriter = (
  key: string,
  chunk: ExpectedChunk,
  body: AsyncIterable<Buffer>,
) => Promise<void>

type Places = { uploadPath(key: string): string; mapPath(key: string): string }

/**
 * Writes chunks to their place in the upload's file while they arrive, and marks them in the map when length and hash are
 * right. The chunks of one upload come in any order and in parallel; two senders of the same chunk take turns, so
 * that a bad one never writes over what a good one has sent.
 */
export function chunkWriter({ uploadPath, mapPath }: Places): ChunkWriter {
  const turns = new Map<string, Promise<void>>()

  return async (key, chunk, body) => {
    const name = `${key}/${chunk.index}`
    const before = turns.get(name)
    const turn = (async () => {
      await before?.catch(() => undefined) // its own sender is told
      await writeChunk(uploadPath(key), mapPath(key), chunk, body)
    })()
    turns.set(name, turn)
    try {
      await turn
    } finally {
      if (turns.get(name) === turn) turns.delete(name)
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
