import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { startThread, terminateThread } from '@shoal/threads'
import type { Manifest } from '../chunks/manifest.ts'
import { hashPart } from '../disk/hash-part.ts'
import type { FrontierEvents, FrontierMethods, FrontierSetup } from './frontier-thread.ts'

/** The SHA-256 of the whole file, computed during the download. */
export interface FrontierHash {
  /** Reports that the first `bytes` bytes of the file are on disk and verified. */
  advance(bytes: number): void
  /** Number of bytes hashed so far. */
  hashedBytes(): number
  /** Calls `listener` whenever more bytes have been hashed. Replaces an earlier listener. */
  onProgress(listener: () => void): void
  /**
   * Resolves with the SHA-256 in lowercase hexadecimal once the last byte has been hashed. Rejects if the file could
   * not be read.
   */
  readonly digest: Promise<string>
  /** Stops hashing immediately. Afterwards, `digest` may never settle. */
  close(): Promise<void>
}

/** Computes the hash in a thread, which reads the verified part of the file back from the page cache. */
export function threadFrontierHash(setup: FrontierSetup): FrontierHash {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  promise.catch(() => undefined) // avoids an unhandled rejection if nobody is awaiting the digest yet
  let notifiedBytes = 0
  let hashed = 0
  let listener: (() => void) | undefined
  const events: FrontierEvents = {
    progress(hashedBytes) {
      hashed = hashedBytes
      listener?.()
    },
    done: resolve,
  }
  const thread = startThread<FrontierMethods>('frontier-thread', import.meta.url, setup, {
    ours: events,
    resourceLimits: { maxYoungGenerationSizeMb: 1 },
  })
  thread.worker.on('error', reject)
  return {
    advance(bytes) {
      if (bytes <= notifiedBytes) return
      notifiedBytes = bytes
      thread.rpc.notify('advance', bytes)
    },
    hashedBytes: () => hashed,
    onProgress(given) {
      listener = given
    },
    digest: promise,
    async close() {
      await terminateThread(thread)
    },
  }
}

/** Computes the hash in this thread. For files of a few chunks, hashing takes less time than starting a thread. */
export function inlineFrontierHash(path: string, manifest: Manifest): FrontierHash {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  promise.catch(() => undefined) // see `threadFrontierHash`
  let hashed = 0
  return {
    advance(bytes) {
      if (bytes < manifest.fileSizeBytes || hashed > 0) return
      hashed = bytes
      // The only chunk of the file has already been hashed. Its hash is that of the file, because `parseManifest`
      // rejects any other manifest.
      if (manifest.chunks.length === 1) return resolve(manifest.sha256)
      try {
        resolve(hashFile(path, bytes))
      } catch (error) {
        reject(error)
      }
    },
    hashedBytes: () => hashed,
    onProgress: () => undefined, // hashed in one step
    digest: promise,
    close: async () => undefined,
  }
}

function hashFile(path: string, size: number) {
  const fd = openSync(path, 'r')
  try {
    const hash = createHash('sha256')
    hashPart(fd, hash, 0, size)
    return hash.digest('hex')
  } finally {
    closeSync(fd)
  }
}
