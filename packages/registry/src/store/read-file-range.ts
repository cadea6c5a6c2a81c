import { type FileHandle, open } from 'node:fs/promises'
import { notFound } from '../errors.ts'
import type { ByteRange } from './object-store.ts'

const readSize = 1024 * 1024

/** Reads with two buffers in turn: while one is on its way out, the other is filled. */
export async function* readFileRange(
  path: string,
  { start, size }: ByteRange,
  signal?: AbortSignal,
) {
  const file = await open(path, 'r').catch((error) => {
    if (error.code === 'ENOENT') throw bytesGone()
    throw error
  })
  try {
    const buffers = [Buffer.allocUnsafeSlow(Math.min(size, readSize))]
    if (size > readSize) buffers.push(Buffer.allocUnsafeSlow(readSize))
    let asked = 0
    const readNext = (into: Buffer) => {
      const length = Math.min(into.length, size - asked)
      asked += length
      return readFully(file, into.subarray(0, length), start + asked - length)
    }
    let pending = readNext(buffers[0] as Buffer)
    for (let sent = 0, turn = 1; sent < size; turn += 1) {
      const bytes = await pending
      signal?.throwIfAborted()
      if (asked < size) {
        pending = readNext(buffers[turn % 2] as Buffer)
        pending.catch(() => undefined) // awaited in the next round, unless the reader leaves before
      }
      sent += bytes.length
      yield bytes
    }
    await pending
  } finally {
    await file.close()
  }
}

export function bytesGone() {
  return notFound('these bytes are no longer here')
}

async function readFully(file: FileHandle, into: Buffer, position: number): Promise<Buffer> {
  let got = 0
  while (got < into.length) {
    const { bytesRead } = await file.read(into, got, into.length - got, position + got)
    if (bytesRead === 0) throw new Error(`file ends at byte ${position + got}`)
    got += bytesRead
  }
  return into
}
