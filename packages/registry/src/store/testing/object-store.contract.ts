import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ObjectStore, UploadReference } from '../object-store.ts'

/** The store, and a way to call its presigned URLs. */
export type StoreUnderTest = {
  store: ObjectStore
  request(
    method: 'GET' | 'PUT',
    url: string,
    options?: { bytes?: Buffer; headers?: Record<string, string> },
  ): Promise<{ status: number; bytes: Buffer }>
}

const chunkSize = 5 * 1024 * 1024 // the minimum part size of S3
const lastSize = 1234

/** Defines the tests that every store must pass. */
export function objectStoreContract(name: string, open: () => Promise<StoreUnderTest>) {
  describe(`an object store (${name})`, () => {
    const sizeBytes = 2 * chunkSize + lastSize
    const layout = { sizeBytes, chunkSize }
    const bytes = randomBytes(sizeBytes)
    const chunkAt = (index: number) => {
      const start = index * chunkSize
      const part = bytes.subarray(start, Math.min(start + chunkSize, sizeBytes))
      return { index, start, size: part.length, hash: sha256(part), part }
    }
    let under: StoreUnderTest
    let store: ObjectStore

    beforeAll(async () => {
      under = await open()
      store = under.store
    })

    async function begin(): Promise<UploadReference> {
      const key = randomUUID()
      return { key, uploadId: await store.startUpload({ key, uploadId: null }, layout) }
    }
    async function send(upload: UploadReference, index: number, bytesSent?: Buffer) {
      const { part, ...chunk } = chunkAt(index)
      const { url, headers } = store.presignChunkUpload(upload, chunk, inOneHour())
      return under.request('PUT', url, { bytes: bytesSent ?? part, headers })
    }
    async function finish(): Promise<UploadReference> {
      const upload = await begin()
      for (const index of [2, 0, 1]) await send(upload, index)
      await store.finishUpload(upload, layout)
      return upload
    }
    const finished = async () => (await finish()).key
    async function read(key: string, start = 0, size = sizeBytes) {
      const parts: Buffer[] = []
      for await (const part of store.read(key, { start, size })) parts.push(Buffer.from(part))
      return Buffer.concat(parts)
    }

    test('stores the chunks of an upload in any order and lists them', async () => {
      const upload = await begin()
      expect(await store.startUpload(upload, layout)).toBe(upload.uploadId) // a repeated call is harmless
      expect(await store.listStoredChunks(upload, layout)).toEqual(new Set())
      expect((await send(upload, 2)).status).toBe(200)
      expect((await send(upload, 0)).status).toBe(200)
      expect((await send(upload, 0)).status).toBe(200)
      expect(await store.listStoredChunks(upload, layout)).toEqual(new Set([0, 2]))
      expect(await store.startUpload(upload, layout)).toBe(upload.uploadId) // a later call loses no chunks
      expect(await store.listStoredChunks(upload, layout)).toEqual(new Set([0, 2]))
      await store.remove(upload.key)
    })

    test('returns a finished object, in full and in ranges', async () => {
      const upload = await finish()
      const { key } = upload
      await store.finishUpload(upload, layout) // a repeated call is harmless
      await store.startUpload(upload, layout) // also harmless; happens after an older database has been restored
      expect(await store.listStoredChunks(upload, layout)).toEqual(new Set([0, 1, 2]))
      expect((await read(key)).equals(bytes)).toBe(true)
      expect(
        (await read(key, chunkSize - 10, 20)).equals(
          bytes.subarray(chunkSize - 10, chunkSize + 10),
        ),
      ).toBe(true)
      expect((await read(key, sizeBytes - 1, 1)).equals(bytes.subarray(-1))).toBe(true)
    })

    test('does not store chunks of the wrong size, and does not finish a removed upload', async () => {
      const upload = await begin()
      await send(upload, 0)
      await send(upload, 1, bytes.subarray(0, chunkSize - 1))
      await send(upload, 2, Buffer.concat([bytes.subarray(-lastSize), Buffer.from('more')]))
      expect(await store.listStoredChunks(upload, layout)).toEqual(new Set([0]))
      expect(await store.hasObject(upload.key, sizeBytes)).toBe(false)
      await store.remove(upload.key)
      expect(await store.listStoredChunks(upload, layout)).toEqual(new Set())
      await expect(store.finishUpload(upload, layout)).rejects.toThrow('no longer stored')
    })

    test('reports whether an object of a certain size exists', async () => {
      const key = await finished()
      expect(await store.hasObject(key, sizeBytes)).toBe(true)
      expect(await store.hasObject(key, sizeBytes + 1)).toBe(false)
      expect(await store.hasObject(randomUUID(), sizeBytes)).toBe(false)
    })

    test('hashes the stored bytes', async () => {
      const key = await finished()
      const hashes = await store.hash(key, sizeBytes)
      expect(hashes.sha256_hash).toBe(sha256(bytes))
      expect(hashes.fileSizeBytes).toBe(sizeBytes)
    })

    test('presigns URLs for an object and its parts, and refuses forged and expired URLs', async () => {
      const key = await finished()
      const whole = store.presignRead(key, { filename: 'x.gguf', expiresInSeconds: 86_400 })
      expect(new URL(whole).searchParams.get('X-Amz-Expires')).toBe('86400')
      expect(sha256((await under.request('GET', whole)).bytes)).toBe(sha256(bytes))
      const range = await under.request('GET', whole, { headers: { range: 'bytes=7-9' } })
      expect(range.status).toBe(206)
      expect(range.bytes.equals(bytes.subarray(7, 10))).toBe(true)
      for (const index of [0, 1, 2]) {
        const { hash, start, size } = chunkAt(index)
        const part = { index, start, size }
        const url = store.presignRead(key, { filename: 'x.gguf', expiresInSeconds: 60, part })
        expect(sha256((await under.request('GET', url)).bytes)).toBe(hash)
      }
      const forged = whole.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
      expect((await under.request('GET', forged)).status).toBe(403)
      const expired = store.presignRead(key, { filename: 'x.gguf', expiresInSeconds: 0 })
      expect((await under.request('GET', expired)).status).toBe(403)
    })

    test('reopens a finished object, so that bad chunks can be sent again', async () => {
      const key = await finished()
      const upload = { key, uploadId: await store.reopenUpload(key, layout, [1]) }
      expect(await store.listStoredChunks(upload, layout)).toEqual(new Set([0, 2]))
      await send(upload, 1)
      await store.finishUpload(upload, layout)
      expect(sha256(await read(key))).toBe(sha256(bytes))
    })

    test('removes an object, and does nothing if it does not exist', async () => {
      const key = await finished()
      const url = store.presignRead(key, { filename: 'x.gguf', expiresInSeconds: 60 })
      await store.remove(key)
      await store.remove(key)
      await expect(read(key)).rejects.toThrow('no longer stored')
      expect((await under.request('GET', url)).status).toBe(404)
    })

    test('lists objects and uploads, each once', async () => {
      const key = await finished()
      const open = await begin()
      const listed = []
      for await (const entry of store.list()) listed.push(entry)
      expect(listed).toContainEqual(expect.objectContaining({ key, isUpload: false, sizeBytes }))
      expect(listed).toContainEqual(expect.objectContaining({ key: open.key, isUpload: true }))
      expect(new Set(listed.map((entry) => entry.key)).size).toBe(listed.length)
    })

    test('stores the identity of its registry, which is not listed as an object', async () => {
      expect(await store.readIdentity()).toBeUndefined()
      await store.writeIdentity('one')
      await store.writeIdentity('another')
      expect(await store.readIdentity()).toBe('another')
      for await (const { key } of store.list()) expect(key).toHaveLength(randomUUID().length)
    })

    test('reports its space if the space is limited', async () => {
      const before = await store.space()
      const { key } = await begin()
      const during = await store.space()
      await store.remove(key)
      if (before === 'unlimited' || during === 'unlimited') {
        expect(during).toBe(before)
        return
      }
      expect(during.awaitedBytes - before.awaitedBytes).toBe(sizeBytes)
      expect(during.freeBytes).toBeGreaterThan(0)
      expect(during.reserveBytes).toBeGreaterThan(0)
    })

    test('stops reading when aborted', async () => {
      const key = await finished()
      const stop = new AbortController()
      const reading = (async () => {
        for await (const _part of store.read(key, { start: 0, size: sizeBytes }, stop.signal)) {
          stop.abort(new Error('enough'))
        }
      })()
      await expect(reading).rejects.toThrow('enough')
    })

    test('passes its own check', async () => {
      await store.check()
    })
  })
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function inOneHour(): Date {
  return new Date(Date.now() + 3_600_000)
}
