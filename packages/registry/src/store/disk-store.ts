/**
 * Objects as files: `uploads/<key>` while chunks come, with `uploads/<key>.chunks` beside it (one byte for each chunk
 * that has come), then `objects/<2 digits>/<key>`. `identity` names the registry that they belong to.
 */
import { constants } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hashFileWithPiecesInWorker } from '@shoal/model-file'
import { exists, replaceFile, syncDirectory } from '../durable-file.ts'
import { tooLarge } from '../errors.ts'
import { type ChunkWriter, chunkWriter, type PatienceMs } from './chunk-writer.ts'
import type { ObjectStore } from './object-store.ts'
import { presign, verifyPresigned } from './presigned-url.ts'
import { bytesGone, readFileRange } from './read-file-range.ts'

const usualPatienceMs: PatienceMs = { alone: 30_000, waitedFor: 2_000 }

export type DiskStore = ObjectStore & {
  writeChunk: ChunkWriter
  /** What a URL that this store signed allows, or undefined when it allows nothing. */
  verify(method: 'GET' | 'PUT', url: string): URLSearchParams | undefined
  /** Bytes of a finished object. */
  sizeOf(key: string): Promise<number>
}

export type DiskStoreOptions = {
  directory: string
  /** The key under which URLs are signed. */
  signingKey: string
  /** The address in front of signed paths, as in `http://localhost:8000`. */
  baseUrl: () => string
  patienceMs?: PatienceMs
}

export async function openDiskStore(options: DiskStoreOptions): Promise<DiskStore> {
  const { directory, signingKey, baseUrl, patienceMs = usualPatienceMs } = options
  const objects = join(directory, 'objects')
  const uploads = join(directory, 'uploads')
  await Promise.all([mkdir(objects, { recursive: true }), mkdir(uploads, { recursive: true })])

  const objectPath = (key: string) => join(objects, key.slice(-2), key)
  const uploadPath = (key: string) => join(uploads, key)
  const mapPath = (key: string) => join(uploads, `${key}.chunks`)
  const identityPath = join(directory, 'identity')

  return {
    async startUpload(key, { sizeBytes, chunkSize }) {
      await extend(mapPath(key), Math.ceil(sizeBytes / chunkSize))
      try {
        await extend(uploadPath(key), sizeBytes) // last: a chunk can come as soon as it is there
      } catch (error) {
        throw isBeyondFileSystem(error)
          ? tooLarge(`no file of ${sizeBytes} bytes fits here`)
          : error
      }
    },

    async listStoredChunks(key) {
      const stored = new Set<number>()
      if (await exists(objectPath(key))) return stored
      const map = await readWhole(mapPath(key))
      map.forEach((mark, index) => {
        if (mark === 1) stored.add(index)
      })
      return stored
    },

    presignChunkUpload(key, { index, hash, start, size }, expiresAt) {
      const url = presign(signingKey, {
        method: 'PUT',
        path: `/blobs/${key}`,
        query: { partNumber: String(index + 1), sha256: hash, offset: `${start}`, size: `${size}` },
        expiresInSeconds: Math.max(1, Math.floor((expiresAt.getTime() - Date.now()) / 1000)),
      })
      return { url: baseUrl() + url, headers: {} }
    },

    writeChunk: chunkWriter({ uploadPath, mapPath }, patienceMs),

    async finishUpload(key) {
      if (await exists(objectPath(key))) return
      await syncFile(uploadPath(key)).catch((error) => {
        throw error.code === 'ENOENT' ? bytesGone() : error
      })
      await mkdir(dirname(objectPath(key)), { recursive: true })
      await rename(uploadPath(key), objectPath(key))
      await syncDirectory(dirname(objectPath(key)))
      await syncDirectory(objects)
      await syncDirectory(uploads)
      await rm(mapPath(key), { force: true })
    },

    async reopenUpload(key, { sizeBytes, chunkSize }, badChunks) {
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
      await syncDirectory(uploads)
    },

    read: (key, range, signal) => readFileRange(objectPath(key), range, signal),

    presignRead(key, { filename, expiresInSeconds, part }) {
      const query: Record<string, string> = part
        ? { partNumber: `${part.index + 1}`, offset: `${part.start}`, size: `${part.size}` }
        : { 'response-content-disposition': attachment(filename) }
      const request = { method: 'GET' as const, path: `/blobs/${key}`, query, expiresInSeconds }
      return baseUrl() + presign(signingKey, request)
    },

    async hasObject(key, sizeBytes) {
      const found = await stat(objectPath(key)).catch(ignoreMissing)
      return found?.size === sizeBytes
    },

    hash: (key, _sizeBytes, signal) =>
      hashFileWithPiecesInWorker(objectPath(key), signal ? { signal } : {}),

    verify: (method, url) => verifyPresigned(signingKey, method, url),

    async sizeOf(key) {
      const found = await stat(objectPath(key)).catch(ignoreMissing)
      if (!found) throw bytesGone()
      return found.size
    },

    async remove(key) {
      // The object last: an upload that is being finished has become it by then, or never will.
      for (const path of [mapPath(key), uploadPath(key), objectPath(key)]) {
        await rm(path, { force: true })
      }
    },

    async *list() {
      for (const folder of [uploads, ...(await subfolders(objects))]) {
        for (const name of await readdir(folder)) {
          if (name.endsWith('.chunks')) continue
          const found = await stat(join(folder, name)).catch(ignoreMissing)
          if (found) yield { key: name, isUpload: folder === uploads, sizeBytes: found.size }
        }
      }
    },

    async readIdentity() {
      return (await readWhole(identityPath)).toString('utf8').trim() || undefined
    },

    async writeIdentity(identity) {
      await replaceFile(identityPath, `${identity}\n`)
    },

    async check() {
      await stat(objects) // which a disk that is not mounted does not have
      const probe = join(uploads, `.probe-${process.pid}`)
      const file = await open(probe, 'w')
      try {
        await file.writeFile('shoal')
      } finally {
        await file.close()
        await rm(probe, { force: true })
      }
    },
  }
}

/** `Content-Disposition` that saves under this name (RFC 6266); filenames here are ASCII without quotes. */
export function attachment(filename: string): string {
  return `attachment; filename="${filename}"`
}

async function extend(path: string, size: number) {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT)
  try {
    if ((await file.stat()).size !== size) await file.truncate(size)
  } finally {
    await file.close()
  }
}

async function readWhole(path: string): Promise<Buffer> {
  const file = await open(path, 'r').catch(ignoreMissing)
  if (!file) return Buffer.alloc(0)
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}

async function syncFile(path: string) {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function subfolders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name))
}

/** A size that this file system has no files of. */
function isBeyondFileSystem(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EFBIG'
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
