/**
 * Tests a store whose disk is full or nearly full. The store is on a small disk, and the database is on another disk.
 */
import { once } from 'node:events'
import { mkdtemp, readdir, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import type { MissingChunk, StartedUpload } from '@shoal/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { canMount, smallDisk } from '../../../../testing/small-disk.ts'
import { garbageCollection } from '../files/garbage/garbage-collection.ts'
import { openTrash } from '../files/rows/trash.ts'
import { makeFakeManifest, manifestFor, publish, settled, smallGguf } from '../testing/publish.ts'
import { type Answer, describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'
import { openDiskStore } from './disk-store.ts'

const megabyte = 1e6
const chunkSize = 16 * 1024 * 1024

describe.skipIf(!canMount)('a store on a small disk', () => {
  describeOnEachDatabase('when it is full', (start) => {
    /** Starts a registry with a store of this size, and creates an account `ana` with a model `tide`. */
    async function scene(
      size: string,
      settings: { reserveBytes?: number; quotaBytes?: number } = {},
    ) {
      const dataDirectory = await mkdtemp(join(tmpdir(), 'shoal-registry-'))
      const disk = await smallDisk(size, join(dataDirectory, 'store'))
      onTestFinished(disk.unmount) // unmount even if the registry does not start
      const registry = await start({ dataDirectory, reserveBytes: 0, ...settings })
      const token = await registry.register('ana')
      await registry.post('/v1/models', { token, body: { name: 'tide' } })
      return { disk, registry, token, uploads: join(disk.path, 'uploads') }
    }

    const post = (registry: TestRegistry, token: string, body: object) =>
      registry.post('/v1/models/tide/files', { token, body })

    function expectFull({ status, headers, body }: Answer) {
      expect({ status, body }).toEqual({
        status: 503,
        body: {
          detail: expect.stringMatching(/\d+(\.\d+)? [KMG]?B more is needed/),
          code: 'storage_full',
        },
      })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }

    test('an upload that would use the reserve is refused and leaves nothing behind', async () => {
      const { registry, token, uploads } = await scene('64m', {
        reserveBytes: 20 * megabyte,
        quotaBytes: 50 * megabyte,
      })
      expectFull(await post(registry, token, makeFakeManifest('a.gguf', 48 * megabyte)))
      expect(await readdir(uploads)).toEqual([])
      const all = await registry.get('/v1/models/tide/files?status=all', { token })
      expect(all.body).toEqual([])
      const fits = await post(registry, token, makeFakeManifest('a.gguf', 46 * megabyte))
      expect(fits.status).toBe(201)
    })

    test('concurrent uploads are accepted only while there is enough space for all of them', async () => {
      const { registry, token } = await scene('64m')
      const answers = await Promise.all(
        [1, 2, 3, 4, 5, 6].map((seed) =>
          post(registry, token, makeFakeManifest(`${seed}.gguf`, 30 * megabyte, seed)),
        ),
      )
      const statuses = answers.map(({ status }) => status).sort()
      expect(statuses).toEqual([201, 201, 503, 503, 503, 503])
    })

    test('an accepted upload can be resumed, and frees its reserved space when it is deleted', async () => {
      const { registry, token, disk } = await scene('64m')
      const manifest = makeFakeManifest('a.gguf', 60 * megabyte)
      const { body: started }: { body: StartedUpload } = await post(registry, token, manifest)
      const other = makeFakeManifest('b.gguf', 10 * megabyte)
      expectFull(await post(registry, token, other))
      disk.fill()
      expect((await post(registry, token, manifest)).status).toBe(200)
      await disk.free()
      const path = `/v1/models/tide/files/${started.id}`
      expect((await registry.call('DELETE', path, { token })).status).toBe(204)
      expect((await post(registry, token, other)).status).toBe(201)
    })

    test('bytes that are already stored need no space and can be downloaded', async () => {
      const { registry, token, disk } = await scene('64m')
      const bytes = smallGguf(1, 10_000)
      const file = await publish(registry, token, { name: 'tide' }, 'a.gguf', bytes)
      disk.fill()
      expect((await registry.get('/readyz')).status).toBe(200)
      expectFull(await post(registry, token, makeFakeManifest('b.gguf', 10 * megabyte)))
      const again = await post(registry, token, manifestFor('again.gguf', bytes))
      expect(again.body).toMatchObject({ upload: { missing_count: 0 } })
      const { id } = again.body as StartedUpload
      await registry.post(`/v1/models/tide/files/${id}/complete`, { token })
      expect(await settled(registry, token, 'tide', id)).toMatchObject({ status: 'ready' })
      const { body } = await registry.get(`/v1/files/tide/download/${file.id}`)
      const got = await registry.bytes((body as { direct_url: string }).direct_url)
      expect(got.bytes.equals(bytes)).toBe(true)
    })

    /** Starts an upload of three chunks, and sends the first one. */
    async function openUpload() {
      const here = await scene('80m')
      const { registry, token, disk } = here
      const bytes = smallGguf(1, 11e6)
      const body = manifestFor('a.gguf', bytes)
      const started: StartedUpload = (await post(registry, token, body)).body
      const send = ({ index, url, size }: MissingChunk) =>
        registry.call('PUT', url, {
          bytes: bytes.subarray(index * chunkSize, index * chunkSize + size),
        })
      const missing = async () => {
        const path = `/v1/models/tide/files/${started.id}/upload`
        const { missing_chunks } = (await registry.get(path, { token })).body as {
          missing_chunks: MissingChunk[]
        }
        return missing_chunks.map(({ index }) => index)
      }
      const [first, second, third] = started.upload.missing_chunks
      if (!first || !second || !third) throw new Error('the upload does not have three chunks')
      expect((await send(first)).status).toBe(200)

      /** Sends half of a chunk, fills the disk, and sends the other half. */
      async function fillInTheMiddle({ index, url, size }: MissingChunk): Promise<Answer> {
        const start = index * chunkSize
        const before = disk.freeBytes()
        const sending = request(url, { method: 'PUT', headers: { 'content-length': size } })
        const answered = once(sending, 'response')
        sending.write(bytes.subarray(start, start + size / 2))
        await expect.poll(() => before - disk.freeBytes()).toBeGreaterThan(size / 2 - 2 * megabyte)
        disk.fill(2 * megabyte)
        sending.end(bytes.subarray(start + size / 2, start + size))
        const [response] = await answered
        return {
          status: response.statusCode,
          headers: new Headers(response.headers),
          text: '',
          body: (await json(response)) as never,
        }
      }

      return { ...here, started, send, missing, fillInTheMiddle, chunks: { first, second, third } }
    }

    slowTest(
      'if the disk becomes full while a chunk is being sent, the blocks of the chunk are freed',
      async () => {
        const { disk, registry, token, send, missing, fillInTheMiddle, started, chunks } =
          await openUpload()
        expectFull(await fillInTheMiddle(chunks.second))
        expect(disk.freeBytes()).toBeGreaterThan(chunkSize / 2)
        disk.fill()
        expectFull(await send(chunks.third))
        expect(await missing()).toEqual([1, 2])

        await disk.free()
        expect((await send(chunks.second)).status).toBe(200)
        expect((await send(chunks.third)).status).toBe(200)
        await registry.post(`/v1/models/tide/files/${started.id}/complete`, { token })
        expect(await settled(registry, token, 'tide', started.id)).toMatchObject({
          status: 'ready',
        })
      },
    )

    slowTest(
      'if the blocks of a single chunk cannot be freed, all chunks must be sent again',
      async () => {
        const { disk, registry, token, send, missing, fillInTheMiddle, started, chunks, uploads } =
          await openUpload()
        const { PATH } = process.env
        process.env.PATH = '' // `fallocate` is not found
        onTestFinished(() => {
          process.env.PATH = PATH
        })
        expectFull(await fillInTheMiddle(chunks.second))
        process.env.PATH = PATH
        expect(await missing()).toEqual([0, 1, 2])
        const [name = ''] = (await readdir(uploads)).filter((one) => !one.includes('.'))
        expect(await stat(join(uploads, name))).toMatchObject({ blocks: 0 })

        await disk.free()
        for (const chunk of Object.values(chunks)) expect((await send(chunk)).status).toBe(200)
        await registry.post(`/v1/models/tide/files/${started.id}/complete`, { token })
        expect(await settled(registry, token, 'tide', started.id)).toMatchObject({
          status: 'ready',
        })
      },
    )

    test('bytes are removed from the trash early if that makes room for an upload', async () => {
      const { registry, token, disk } = await scene('64m')
      const bytes = smallGguf(1, 5_000_000) // 20 MB
      const { id } = await publish(registry, token, { name: 'tide' }, 'old.gguf', bytes)
      await registry.call('DELETE', `/v1/models/tide/files/${id}`, { token })
      const { db } = await registry.connect()
      const trashed = () => db.selectFrom('trash').select('size_bytes').execute()

      expectFull(await post(registry, token, makeFakeManifest('a.gguf', 70 * megabyte)))
      expect(await trashed()).toHaveLength(1) // nothing is removed early if that would not free enough space
      const fits = await post(registry, token, makeFakeManifest('a.gguf', 60 * megabyte))
      expect(fits.status).toBe(201)
      expect(await trashed()).toEqual([])
      expect(disk.freeBytes()).toBeGreaterThan(60 * megabyte)
    })

    slowTest('bytes are removed from the trash if other data uses the reserve', async () => {
      const { registry, token, disk } = await scene('64m', { reserveBytes: 20 * megabyte })
      const bytes = smallGguf(1, 5_000_000) // 20 MB
      const { id } = await publish(registry, token, { name: 'tide' }, 'old.gguf', bytes)
      await registry.call('DELETE', `/v1/models/tide/files/${id}`, { token })
      disk.fill(15 * megabyte)
      const { db } = await registry.connect()
      const store = await openDiskStore({
        directory: disk.path,
        signingKey: 'none',
        baseUrl: () => '',
        reserveBytes: 20 * megabyte,
      })
      const { collect } = garbageCollection(db, store, openTrash({ db, store, retentionDays: 7 }))
      expect(await collect()).toMatchObject({ removed: { bytes: bytes.length } })
      expect(disk.freeBytes()).toBeGreaterThan(30 * megabyte)
    })

    test('the metrics report the free, reserved and awaited bytes', async () => {
      const { registry, token } = await scene('64m', { reserveBytes: 5 * megabyte })
      await post(registry, token, makeFakeManifest('a.gguf', 30 * megabyte))
      const { text } = await registry.get('/metrics')
      expect(text).toMatch(/^shoal_store_free_bytes 6\d{7}$/m)
      expect(text).toMatch(/^shoal_store_reserve_bytes 5000000$/m)
      expect(text).toMatch(/^shoal_store_awaited_bytes 30000000$/m)
    })
  })
})
