import { readSync } from 'node:fs'
import { writeAll } from '../disk/write-all.ts'

type Done<T = void> = (error: Error | null, value?: T) => void
type Place = { offset?: number; length?: number }

/** The only file of a torrent. */
export type PieceFile = {
  fd: number
  pieceLength: number
  fileSizeBytes: number
}

/**
 * Creates a store class for webtorrent (abstract-chunk-store). Its stores use an open file that other code also reads
 * and writes.
 */
export function createPieceStoreClass({ fd, pieceLength, fileSizeBytes }: PieceFile) {
  return class PieceStore {
    readonly chunkLength = pieceLength

    put(index: number, bytes: Uint8Array, done: Done) {
      queueMicrotask(() => {
        try {
          writeAll(fd, bytes, index * pieceLength)
        } catch (error) {
          return done(error as Error)
        }
        done(null)
      })
    }

    get(index: number, place: Place | Done<Uint8Array> | undefined, whenDone?: Done<Uint8Array>) {
      const { offset = 0, length }: Place = typeof place === 'object' ? place : {}
      const done = (typeof place === 'function' ? place : whenDone) as Done<Uint8Array>
      const start = index * pieceLength
      const maxLength = Math.min(pieceLength, fileSizeBytes - start) - offset
      const bytes = new Uint8Array(Math.min(length ?? maxLength, maxLength))
      queueMicrotask(() => {
        try {
          readSync(fd, bytes, 0, bytes.length, start + offset)
        } catch (error) {
          return done(error as Error)
        }
        done(null, bytes)
      })
    }

    close(done: Done) {
      queueMicrotask(() => done(null)) // the code that opened the file closes it
    }

    destroy(done: Done) {
      queueMicrotask(() => done(null))
    }
  }
}
