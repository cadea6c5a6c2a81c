import type { PushPort } from '@shoal/transfer/push'
import { fileChanged } from '../hashing/file-changed.ts'
import { hashChunk } from '../hashing/hash-file.ts'
import { putChunk } from './put-chunk.ts'

/**
 * Number of chunks sent at the same time. Browsers open up to six connections to a host, so two are left for the page.
 */
export const connections = 4

/** Sends a file from the visitor's disk. `getChunkSize` returns the size of every chunk but the last. */
export function filePort(file: File, getChunkSize: () => number): PushPort {
  return {
    connections,

    putChunk(chunk, options) {
      const start = chunk.index * getChunkSize()
      return putChunk(chunk, file.slice(start, start + chunk.size), options)
    },

    async checkChunk({ index, hash }) {
      if ((await hashChunk(file, index)) !== hash) throw fileChanged(file.name)
    },

    /**
     * Throws `file_changed` if the file has changed since it was chosen. Browsers refuse to read such a file, but
     * report the failed upload only as a network error.
     */
    async checkUnchanged() {
      try {
        await file.slice(0, 1).arrayBuffer()
      } catch (error) {
        throw fileChanged(file.name, { cause: error })
      }
    },
  }
}
