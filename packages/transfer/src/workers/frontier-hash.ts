import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { startThread, terminateThread } from '@shoal/threads'
import type { Manifest } from '../chunks/manifest.ts'
import { hashPart } from '../disk/hash-part.ts'
import type { FrontierEvents, FrontierMethods, FrontierSetup } from './frontier-thread.ts'

/** The SHA-256 of the whole file, computed behind the download. */
export interface FrontierHash {
  /** All bytes before `bytes`, from the start of the file, are on disk and good. */
  advance(bytes: number): void
  /** Bytes hashed so far. */
  hashedBytes(): number
  /** Has `listener` called when more bytes are hashed, in place of an earlier one. */
  onProgress(listener: () => void): void
  /** Resolves when the file's last byte has been hashed, with small hexadecimal digits. Rejects if it could not be read. */
  readonly digest: Promise<string>
  /** At once: `digest` may never settle then. */
  close(): Promise<void>
}

/** One thread that reads the file back from the page cache, as far as it is good. */
export function threadFrontierHash(setup: FrontierSetup): FrontierHash {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  promise.catch(() => undefined) // whoever awaits the digest gets the failure; nobody may be there yet
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
  const thread = startThread<FrontierMethods>('frontier-thread', import.meta.url, setup, events)
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

/** For a file of a few chunks, where a thread starts slower than the hash is done. */
export function inlineFrontierHash(path: string, manifest: Manifest): FrontierHash {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  promise.catch(() => undefined) // as above
  let hashed = 0
  return {
    advance(bytes) {
      if (bytes < manifest.fileSizeBytes || hashed > 0) return
      hashed = bytes
      // The only chunk of a file has been hashed, and a manifest in which it differs from the file is refused.
      if (manifest.chunks.length === 1) return resolve(manifest.sha256)
      try {
        resolve(hashFile(path, bytes))
      } catch (error) {
        reject(error)
      }
    },
    hashedBytes: () => hashed,
    onProgress: () => undefined, // it comes to its end in one step
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
