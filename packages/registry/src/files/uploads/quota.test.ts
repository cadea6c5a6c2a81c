/**
 * Tests that an account never stores more bytes than its quota allows, even if it starts, replaces, cancels and sends
 * uploads concurrently.
 */

import { mkdtemp, readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { MissingChunk, ModelFile, StartedUpload } from '@shoal/protocol'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { canMount, smallDisk } from '../../../../../testing/small-disk.ts'
import { modelRepository } from '../../models/model-repository.ts'
import { openDiskStore } from '../../store/disk-store.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { manifestFor, publish, smallGguf } from '../../testing/publish.ts'
import {
  type Answer,
  describeOnEachDatabase,
  type TestRegistry,
} from '../../testing/test-registry.ts'
import { garbageCollection } from '../garbage/garbage-collection.ts'
import { blobRepository } from '../rows/blob-repository.ts'
import { fileRepository } from '../rows/file-repository.ts'
import { openTrash } from '../rows/trash.ts'
import { startUpload } from './start-upload.ts'

const everything = { accountId: undefined, username: undefined, seesAll: true }
const megabyte = 1e6

/** Ignores that a connection was closed. Throws all other errors. */
function ignoreReset(error: unknown) {
  const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException
  if (code !== 'ECONNRESET' && code !== 'EPIPE') throw error
}

/** Disk space that a file system uses in addition to the files' bytes. */
const overheadBytes = 0.5 * megabyte

describe.skipIf(!canMount)('the quota', () => {
  describeOnEachDatabase('is never exceeded', (start) => {
    /**
     * Starts a registry whose store is on a separate disk, so that the decrease in free space shows how many bytes are
     * stored.
     */
    async function scene(quotaBytes: number) {
      const dataDirectory = await mkdtemp(join(tmpdir(), 'shoal-registry-'))
      const disk = await smallDisk('500m', join(dataDirectory, 'store'))
      onTestFinished(disk.unmount) // unmount even if the registry does not start
      const registry = await start({ dataDirectory, quotaBytes, reserveBytes: 0 })
      const token = await registry.register('ana')
      await registry.post('/v1/models', { token, body: { name: 'tide' } })
      const emptyBytes = disk.freeBytes()
      return { registry, token, storedBytes: () => emptyBytes - disk.freeBytes() }
    }

    const begin = (registry: TestRegistry, token: string, name: string, bytes: Uint8Array) =>
      registry.post('/v1/models/tide/files', { token, body: manifestFor(name, bytes) })

    const listFiles = async (registry: TestRegistry, token: string) =>
      (await registry.get('/v1/models/tide/files?status=all', { token })).body as ModelFile[]

    /** Sends the only chunk of an upload. */
    function send(registry: TestRegistry, { body }: Answer, bytes: Buffer<ArrayBuffer>) {
      const [chunk] = (body as StartedUpload).upload.missing_chunks
      return registry.call('PUT', chunk?.url ?? '', { bytes })
    }

    test('by consecutive uploads with the same name', async () => {
      const { registry, token, storedBytes } = await scene(10 * megabyte)
      for (let seed = 1; seed <= 6; seed += 1) {
        const bytes = smallGguf(seed, 2e6)
        const started = await begin(registry, token, 'a.gguf', bytes)
        expect(started.status).toBe(201)
        expect(storedBytes()).toBeLessThan(overheadBytes) // the earlier bytes were removed
        expect((await send(registry, started, bytes)).status).toBe(200)
      }
      expect(storedBytes()).toBeLessThan(10 * megabyte)
      expect(await listFiles(registry, token)).toHaveLength(1)
    })

    test('by chunks that are still being sent to an upload that is replaced or deleted', async () => {
      const { registry, token, storedBytes } = await scene(10 * megabyte)
      const slowSender = async (seed: number) => {
        const bytes = smallGguf(seed, 2e6)
        const { body } = await begin(registry, token, 'a.gguf', bytes)
        const { id, upload } = body as StartedUpload
        const [chunk] = upload.missing_chunks as [MissingChunk]
        const sending = request(chunk.url, {
          method: 'PUT',
          headers: { 'content-length': bytes.length, connection: 'close' },
        })
        const answer = new Promise<string>((resolve, reject) => {
          sending.on('error', reject)
          sending.on('response', (response) => resolve(text(response)))
        })
        sending.write(bytes.subarray(0, 6 * megabyte))
        await expect.poll(storedBytes).toBeGreaterThan(5 * megabyte)
        return { id, answer }
      }
      const first = await slowSender(1)
      const other = await begin(registry, token, 'a.gguf', smallGguf(2, 2e6))
      expect(other.status).toBe(201)
      expect(storedBytes()).toBeLessThan(overheadBytes)
      expect(await first.answer).toContain('no longer open')

      const second = await slowSender(3)
      const path = `/v1/models/tide/files/${second.id}`
      expect((await registry.call('DELETE', path, { token })).status).toBe(204)
      expect(storedBytes()).toBeLessThan(overheadBytes)
      expect(await second.answer).toContain('no longer open')
    })

    test('by many concurrent uploads, with the same name and different ones', async () => {
      const quotaBytes = 10 * megabyte
      const { registry, token, storedBytes } = await scene(quotaBytes)
      let largestBytes = 0
      let isDone = false
      async function watch() {
        while (!isDone) {
          largestBytes = Math.max(largestBytes, storedBytes())
          await turnOfTheLoop()
        }
      }
      async function publishOne(seed: number) {
        const bytes = smallGguf(seed, 750_000) // 3 MB
        const name = seed % 2 === 0 ? 'same.gguf' : `${seed % 5}.gguf`
        const started = await begin(registry, token, name, bytes)
        // If the upload is replaced while its chunk is being sent, the connection is closed.
        if (started.status === 201) await send(registry, started, bytes).catch(ignoreReset)
        return started.status
      }
      const watching = watch()
      const statuses: number[] = []
      try {
        for (let round = 0; round < 4; round += 1) {
          const seeds = Array.from({ length: 12 }, (_, index) => round * 12 + index + 1)
          statuses.push(...(await Promise.all(seeds.map(publishOne))))
        }
      } finally {
        isDone = true
        await watching
      }
      expect(largestBytes).toBeLessThan(quotaBytes + overheadBytes)
      // 409: the upload was replaced while it started
      expect([...new Set(statuses)].filter((status) => status !== 409).sort()).toEqual([201, 413])
      const all = await listFiles(registry, token)
      const files = all.filter(({ status }) => status === 'uploading')
      const declared = files.reduce((sum, { file_size_bytes }) => sum + file_size_bytes, 0)
      expect(declared).toBeLessThanOrEqual(quotaBytes)
      expect(storedBytes()).toBeLessThan(declared + overheadBytes)
    })

    test('by an upload that is canceled while it starts', async () => {
      const { registry, token } = await scene(10 * megabyte)
      const { db } = await registry.connect()
      const directory = join(registry.config.dataDirectory, 'store')
      const store = await openDiskStore({ directory, signingKey: 'none', baseUrl: () => '' })
      const files = fileRepository(db, { countSeeders: async () => new Map() })
      const trash = openTrash({ db, store, retentionDays: 7 })
      const collect = garbageCollection(db, store, trash)
      const late: ObjectStore = {
        ...store,
        async startUpload(upload, layout) {
          const [other] = await listFiles(registry, token)
          await registry.call('DELETE', `/v1/models/tide/files/${other?.id}`, { token })
          return store.startUpload(upload, layout)
        },
      }
      const model = await modelRepository(db).getRow('tide', everything)
      const dependencies = {
        db,
        files,
        blobs: blobRepository(db),
        collect,
        trash,
        quotaBytes: undefined,
      }
      const manifest = manifestFor('a.gguf', smallGguf(1))
      const starting = startUpload({ ...dependencies, store: late }, model, everything, manifest)
      await expect(starting).rejects.toMatchObject({ code: 'conflict' })
      expect(await readdir(join(directory, 'uploads'))).toEqual([])
    })

    test('by failed files, whose bytes count until they are removed at the restart after a crash', async () => {
      const { registry, token, storedBytes } = await scene(10 * megabyte)
      const bytes = smallGguf(1, 2e6)
      const started = await begin(registry, token, 'a.gguf', bytes)
      await send(registry, started, bytes)
      const { db } = await registry.connect()
      await sql`update file set status = 'failed'`.execute(db) // as if a crash had prevented the removal of the bytes
      const refused = await begin(registry, token, 'b.gguf', smallGguf(2, 2e6))
      expect(refused).toMatchObject({ status: 413, body: { code: 'quota_exceeded' } })
      await registry.restart()
      expect(storedBytes()).toBeLessThan(overheadBytes)
      expect((await begin(registry, token, 'b.gguf', smallGguf(2, 2e6))).status).toBe(201)
    })

    test('by an invalid file, whose bytes are removed', async () => {
      const { registry, token, storedBytes } = await scene(10 * megabyte)
      const nonsense = Buffer.alloc(8 * megabyte, 7)
      const file = await publish(registry, token, { name: 'tide' }, 'a.gguf', nonsense)
      expect(file.status).toBe('failed')
      await expect.poll(storedBytes).toBeLessThan(overheadBytes)
      const again = await begin(registry, token, 'a.gguf', smallGguf(1, 2e6))
      expect(again.status).toBe(201)
    })

    test('by a refused upload, which leaves previously sent bytes untouched', async () => {
      const { registry, token } = await scene(10 * megabyte)
      const bytes = smallGguf(1, 2e6)
      await send(registry, await begin(registry, token, 'a.gguf', bytes), bytes)
      const refused = await begin(registry, token, 'a.gguf', smallGguf(2, 3e6))
      expect(refused.body).toEqual({
        code: 'quota_exceeded',
        detail: 'quota exceeded: 0 B of 10.0 MB used; this file needs 12.0 MB',
      })
      const resumed = await begin(registry, token, 'a.gguf', bytes)
      expect(resumed).toMatchObject({ status: 200, body: { upload: { missing_count: 0 } } })
    })
  })
})
