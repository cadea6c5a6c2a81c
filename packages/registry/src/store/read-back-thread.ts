/** The thread that `read-back.ts` starts: it reads uploads back from the disk and hashes them. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { chunkCount, chunkRange, type StreamHasher } from '@shoal/model-file'
import { serveParent } from '@shoal/threads/parent'
import { createWholeHasher, type WholeHashes } from './whole-hasher.ts'

/** `id` identifies a read-back. */
export type ReadBackMethods = {
  /** Opens a file, and returns how many chunks it has. Rejects if the file cannot be opened. */
  open(file: { id: number; path: string }): number
  /** Hashes one more chunk. If this fails, `finish` throws the error. */
  readNext(id: number): void
  /** Hashes the rest of the file, closes it, and returns the hashes. */
  finish(id: number): Promise<WholeHashes>
  /** Closes the file. Does nothing if it is not open. */
  close(id: number): void
}

type ReadBackFile = {
  fd: number
  sizeBytes: number
  hasher: StreamHasher<WholeHashes>
  /** The number of chunks that have been hashed. */
  chunksDone: number
  failure?: { error: unknown }
}

/**
 * Small enough for the L2 cache, so that a block is not read from main memory again for its second hash. One buffer is
 * enough, because chunks are hashed one after another.
 */
const buffer = new Uint8Array(1024 * 1024)

function serve(): ReadBackMethods {
  const files = new Map<number, ReadBackFile>()

  function get(id: number): ReadBackFile {
    const file = files.get(id)
    if (!file) throw new Error('this file is not being read back')
    return file
  }

  function close(id: number) {
    const file = files.get(id)
    if (!file) return
    files.delete(id)
    closeSync(file.fd)
  }

  return {
    open({ id, path }) {
      const fd = openSync(path, 'r')
      const sizeBytes = fstatSync(fd).size
      files.set(id, { fd, sizeBytes, hasher: createWholeHasher(sizeBytes), chunksDone: 0 })
      return chunkCount(sizeBytes)
    },

    readNext(id) {
      const file = files.get(id)
      if (!file || file.failure) return
      try {
        readChunk(file)
      } catch (error) {
        file.failure = { error }
      }
    },

    async finish(id) {
      try {
        for (;;) {
          const file = get(id) // it may have been closed in the meantime
          if (file.failure) throw file.failure.error
          if (file.chunksDone === chunkCount(file.sizeBytes)) return file.hasher.digest()
          readChunk(file)
          await turnOfTheLoop() // lets other files be read between two chunks
        }
      } finally {
        close(id)
      }
    },

    close,
  }
}

function readChunk(file: ReadBackFile) {
  const { start, size } = chunkRange(file.chunksDone, file.sizeBytes)
  for (let position = start; position < start + size; ) {
    const wanted = Math.min(buffer.length, start + size - position)
    const bytesRead = readSync(file.fd, buffer, 0, wanted, position)
    if (bytesRead === 0)
      throw new Error(`the file ended at byte ${position} while it was being hashed`)
    file.hasher.update(buffer.subarray(0, bytesRead))
    position += bytesRead
  }
  file.chunksDone += 1
}

serveParent(serve)
