/**
 * Stores objects as files. During an upload, the bytes are in `uploads/<key>`, and `uploads/<key>.chunks` is a map with
 * one byte per chunk, which is 1 if the chunk is stored. A finished object is in `objects/<xx>/<key>`, where `<xx>` is
 * the last two characters of the key. The file `identity` contains the identity of the registry that the store belongs
 * to.
 */
import { mkdir, open, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exists, isErrno, makeFolder, replaceFile, syncFolder } from '@shoal/files'
import { hashFileWithPiecesInWorker } from '@shoal/model-file'
import { isDomainError, tooLarge, unavailable } from '../errors.ts'
import { isStorageFull } from '../unavailable.ts'
import { byteBudget } from './byte-budget.ts'
import { type ChunkWriter, chunkWriter, type SenderTimeoutMs } from './chunk-writer.ts'
import {
  extend,
  findSize,
  readWhole,
  removeFiles,
  subfolders,
  syncFile,
  writeZeros,
} from './disk-files.ts'
import { diskSpace } from './disk-space.ts'
import { bytesGone, openObjectReader } from './object-reader.ts'
import type { ChunkLayout, ObjectStore } from './object-store.ts'
import { presign, verifyPresigned } from './presigned-url.ts'
import { readBack } from './read-back.ts'
import { readRange } from './read-range.ts'
import type { ServedStore } from './served-store.ts'

const probeName = '.probe'
const defaultSenderTimeoutMs: SenderTimeoutMs = { alone: 30_000, waitedFor: 2_000 }

export type DiskStore = ObjectStore & ServedStore & { writeChunk: ChunkWriter }

export type DiskStoreOptions = {
  directory: string
  /** The key that signs URLs. */
  signingKey: string
  /** The base URL of signed paths, such as `http://localhost:8000`. */
  baseUrl: () => string
  senderTimeoutMs?: SenderTimeoutMs
  /** Bytes that uploads must leave free. Default: 1 GB or 2% of the file system, whichever is smaller. */
  reserveBytes?: number | undefined
  /** Bytes on this file system that are reserved for other purposes but not used yet. */
  promisedBytes?: () => number
}

export async function openDiskStore(options: DiskStoreOptions): Promise<DiskStore> {
  const { directory, signingKey, baseUrl, senderTimeoutMs = defaultSenderTimeoutMs } = options
  const budget = byteBudget()
  const objects = join(directory, 'objects')
  const uploads = join(directory, 'uploads')
  for (const folder of [objects, uploads]) makeFolder(folder, 0o750)

  const objectPath = (key: string) => join(objects, key.slice(-2), key)
  const uploadPath = (key: string) => join(uploads, key)
  const mapPath = (key: string) => join(uploads, `${key}.chunks`)
  const identityPath = join(directory, 'identity')

  const space = diskSpace({
    uploads,
    reserveBytes: options.reserveBytes,
    promisedBytes: options.promisedBytes ?? (() => 0),
  })
  const readingBack = readBack({ uploadPath, mapPath })
  const chunks = chunkWriter({
    uploadPath,
    mapPath,
    space,
    budget,
    senderTimeoutMs,
    readBack: readingBack,
  })
  const takeTurn = inTurn()
  let hasIdentity = false

  /**
   * Creates the upload's file with its full length. This reserves space, because the check for later uploads counts the
   * bytes that this upload has not received yet.
   */
  async function reserve(key: string, { sizeBytes, chunkSize }: ChunkLayout) {
    await requirePresence()
    if (await exists(objectPath(key))) return
    const chunkCount = Math.ceil(sizeBytes / chunkSize)
    const sizes = [await findSize(uploadPath(key)), await findSize(mapPath(key))]
    if (sizes[0] === sizeBytes && sizes[1] === chunkCount) return
    try {
      await extend(uploadPath(key), sizeBytes)
      await space.checkUploadsFit(sizeBytes)
      await writeZeros(mapPath(key), chunkCount) // so that marking a chunk as stored needs no additional space
      // If the upload was finished in the meantime, the new files are not needed.
      if (await exists(objectPath(key))) await removeFiles(uploadPath(key), mapPath(key))
    } catch (error) {
      if (sizes[0] === undefined) await removeFiles(uploadPath(key), mapPath(key))
      if (isBeyondFileSystem(error))
        throw tooLarge(`the registry's file system cannot store a file of ${sizeBytes} bytes`)
      throw error
    }
  }

  /**
   * Throws if the store's disk is unavailable. In that case, the files on the disk are not lost, so clients must not be
   * required to send them again.
   */
  async function requirePresence() {
    const isThere = (await exists(objects)) && (!hasIdentity || (await exists(identityPath)))
    if (isThere) return
    throw unavailable("the registry's store cannot be reached", { retryAfterSeconds: 5 })
  }

  /** Rethrows the error, but throws `unavailable` instead if a file is missing because the whole store is missing. */
  async function orAway(error: unknown): Promise<never> {
    const isMissing = isErrno(error, 'ENOENT')
    if (isMissing || isDomainError(error)) await requirePresence()
    throw error
  }

  /** Durably removes an upload's chunk map, which would otherwise stay forever after a crash. */
  async function removeMap(key: string) {
    await removeFiles(mapPath(key))
    await syncFolder(uploads)
  }

  async function writeProbe() {
    const probe = join(uploads, probeName)
    try {
      const file = await open(probe, 'w')
      try {
        await file.writeFile('shoal')
      } finally {
        await file.close()
      }
    } finally {
      await removeFiles(probe)
    }
  }

  return {
    async startUpload({ key }, layout) {
      await takeTurn(() => reserve(key, layout)).catch(orAway)
      return null
    },

    abortUpload: async () => undefined, // uploads have no IDs, so a key has only one upload

    async listStoredChunks({ key }, { sizeBytes, chunkSize }) {
      const stored = new Set<number>()
      if (await exists(objectPath(key))) return makeIndexSet(Math.ceil(sizeBytes / chunkSize))
      const map = await readWhole(mapPath(key))
      if (map.length === 0) await requirePresence()
      map.forEach((mark, index) => {
        if (mark === 1) stored.add(index)
      })
      return stored
    },

    presignChunkUpload({ key }, { index, hash, start, size }, expiresAt) {
      const url = presign(signingKey, {
        method: 'PUT',
        path: `/blobs/${key}`,
        query: { partNumber: String(index + 1), sha256: hash, offset: `${start}`, size: `${size}` },
        expiresInSeconds: Math.max(1, Math.floor((expiresAt.getTime() - Date.now()) / 1000)),
      })
      return { url: baseUrl() + url, headers: {} }
    },

    ownOrigin: undefined,
    writeChunk: (...chunk) => chunks.write(...chunk).catch(orAway),

    async finishUpload({ key }) {
      if (await exists(objectPath(key))) return removeMap(key)
      await syncFile(uploadPath(key)).catch((error) => {
        throw isErrno(error, 'ENOENT') ? bytesGone() : error
      })
      await mkdir(dirname(objectPath(key)), { recursive: true })
      await rename(uploadPath(key), objectPath(key))
      await syncFolder(dirname(objectPath(key)))
      await syncFolder(objects)
      await removeMap(key)
    },

    async reopenUpload(key, { sizeBytes, chunkSize }, badChunks) {
      await readingBack.drop(key)
      const map = Buffer.alloc(Math.ceil(sizeBytes / chunkSize), 1)
      for (const index of badChunks) map[index] = 0
      const file = await open(mapPath(key), 'w')
      try {
        await file.writeFile(map)
        await file.datasync()
      } finally {
        await file.close()
      }
      if (await exists(objectPath(key))) await rename(objectPath(key), uploadPath(key))
      await syncFolder(uploads)
      return null
    },

    budget,
    open: (key) => openObjectReader(objectPath(key)).catch(orAway),
    async *read(key, range, signal) {
      yield* readRange(await openObjectReader(objectPath(key)), range, signal)
    },

    presignRead(key, { filename, expiresInSeconds, part }) {
      const query: Record<string, string> = part
        ? { partNumber: `${part.index + 1}`, offset: `${part.start}`, size: `${part.size}` }
        : { 'response-content-disposition': attachment(filename) }
      const request = { method: 'GET' as const, path: `/blobs/${key}`, query, expiresInSeconds }
      return baseUrl() + presign(signingKey, request)
    },

    async hasObject(key, sizeBytes) {
      const found = await findSize(objectPath(key))
      if (found === undefined) await requirePresence()
      return found === sizeBytes
    },

    /**
     * Each chunk was compared with its declared hash when it arrived. Therefore, if `declared` is given, the chunks are
     * hashed again only if the hash of the whole file is wrong, to find out which chunks are incorrect.
     */
    async hash(key, _sizeBytes, { declared, signal } = {}) {
      if (declared) {
        const found = await readingBack.finish(key, objectPath(key), signal)
        if (found.sha256_hash === declared.sha256_hash) {
          return { ...found, chunkHashes: declared.chunkHashes }
        }
      }
      return hashFileWithPiecesInWorker(objectPath(key), signal ? { signal } : {})
    },

    verify: (method, url) => verifyPresigned(signingKey, method, url),

    async getSize(key) {
      const size = await findSize(objectPath(key))
      if (size === undefined) return orAway(bytesGone())
      return size
    },

    space: space.read,

    async remove(key) {
      await removeFiles(mapPath(key), uploadPath(key))
      // A deleted file keeps its disk blocks while it is open.
      await chunks.stop(key)
      await readingBack.drop(key)
      // Remove the object last: by now, an upload that was being finished has become an object or has failed.
      await removeFiles(objectPath(key))
    },

    async *list() {
      for (const name of await readdir(uploads)) {
        const key = name.replace(/\.chunks$/, '')
        if (name === probeName) continue
        // A map without its upload is left over from a crash, unless the upload has just become an object.
        const isRest = name !== key && !(await exists(uploadPath(key)))
        if (name !== key && (!isRest || (await exists(objectPath(key))))) continue
        const sizeBytes = isRest ? 0 : await findSize(uploadPath(key))
        if (sizeBytes !== undefined) yield { key, isUpload: true, sizeBytes }
      }
      for (const folder of await subfolders(objects)) {
        for (const key of await readdir(folder)) {
          const sizeBytes = await findSize(join(folder, key))
          if (sizeBytes !== undefined) yield { key, isUpload: false, sizeBytes }
        }
      }
    },

    async readIdentity() {
      const identity = (await readWhole(identityPath)).toString('utf8').trim() || undefined
      hasIdentity ||= identity !== undefined
      return identity
    },

    async writeIdentity(identity) {
      await replaceFile(identityPath, `${identity}\n`, { mode: 0o640 })
      hasIdentity = true
    },

    async check() {
      await requirePresence()
      await writeProbe().catch((error) => {
        if (!isStorageFull(error)) throw error // a full store can still be read
      })
    },

    close: readingBack.close,
  }
}

/**
 * Returns a `Content-Disposition` header that makes clients save the bytes under this filename (RFC 6266). Filenames in
 * the registry are ASCII without quotes, so they need no escaping.
 */
export function attachment(filename: string): string {
  return `attachment; filename="${filename}"`
}

const makeIndexSet = (count: number) => new Set(Array(count).keys())

/** Runs functions one at a time. */
function inTurn() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(act: () => Promise<T>): Promise<T> => {
    const acting = last.then(act)
    last = acting.catch(() => undefined) // the caller receives the error
    return acting
  }
}

/** Whether the error means that a file would exceed the file system's maximum file size. */
function isBeyondFileSystem(error: unknown): boolean {
  return isErrno(error, 'EFBIG')
}
