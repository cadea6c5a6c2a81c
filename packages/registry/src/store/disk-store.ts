/**
 * Objects as files: `uploads/<key>` while chunks come, with `uploads/<key>.chunks` beside it (one byte for each chunk
 * that has come), then `objects/<2 digits>/<key>`.
 */
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hashFileWithPiecesInWorker } from '@shoal/model-file'
import { notFound } from '../errors.ts'
import { type ChunkWriter, chunkWriter } from './chunk-writer.ts'
import type { ByteRange, ObjectStore } from './object-store.ts'
import { presign, verifyPresigned } from './presigned-url.ts'

const readSize = 1024 * 1024

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
}

export async function openDiskStore(options: DiskStoreOptions): Promise<DiskStore> {
  const { directory, signingKey, baseUrl } = options
  const objects = join(directory, 'objects')
  const uploads = join(directory, 'uploads')
  await Promise.all([mkdir(objects, { recursive: true }), mkdir(uploads, { recursive: true })])

  const objectPath = (key: string) => join(objects, key.slice(-2), key)
  const uploadPath = (key: string) => join(uploads, key)
  const mapPath = (key: string) => join(uploads, `${key}.chunks`)

  return {
    async startUpload(key, { sizeBytes, chunkSize }) {
      await extend(mapPath(key), Math.ceil(sizeBytes / chunkSize))
      await extend(uploadPath(key), sizeBytes) // last: a chunk can come as soon as it is there
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

    writeChunk: chunkWriter({ uploadPath, mapPath }),

    async finishUpload(key) {
      if (await exists(objectPath(key))) return
      await syncFile(uploadPath(key))
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

    hash: (key, _sizeBytes, signal) =>
      hashFileWithPiecesInWorker(objectPath(key), signal ? { signal } : {}),

    verify: (method, url) => verifyPresigned(signingKey, method, url),

    async sizeOf(key) {
      const found = await stat(objectPath(key)).catch(ignoreMissing)
      if (!found) throw bytesGone()
      return found.size
    },

    async remove(key) {
      const paths = [uploadPath(key), mapPath(key), objectPath(key)]
      await Promise.all(paths.map((path) => rm(path, { force: true })))
    },

    async *list() {
      for (const folder of [uploads, ...(await subfolders(objects))]) {
        for (const name of await readdir(folder)) {
          if (name.endsWith('.chunks')) continue
          const found = await stat(join(folder, name)).catch(ignoreMissing)
          if (found) yield { key: name, changedAt: found.mtime, sizeBytes: found.size }
        }
      }
    },

    async check() {
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

/** Reads with two buffers in turn: while one is on its way out, the other is filled. */
async function* readFileRange(path: string, { start, size }: ByteRange, signal?: AbortSignal) {
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

function bytesGone() {
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

async function syncDirectory(path: string) {
  const directory = await open(path, constants.O_RDONLY)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function subfolders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name))
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(ignoreMissing)) !== undefined
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
