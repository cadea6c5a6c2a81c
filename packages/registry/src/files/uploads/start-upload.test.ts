import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { StartedUpload } from '@shoal/protocol'
import { expect, test } from 'vitest'
import { modelRepository } from '../../models/model-repository.ts'
import { openDiskStore } from '../../store/disk-store.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { manifestFor, settled, sha256, smallGguf } from '../../testing/publish.ts'
import { describeOnEachDatabase } from '../../testing/test-registry.ts'
import { garbageCollection } from '../garbage/garbage-collection.ts'
import { blobRepository } from '../rows/blob-repository.ts'
import { fileRepository } from '../rows/file-repository.ts'
import { openTrash } from '../rows/trash.ts'
import { startUpload } from './start-upload.ts'

const everything = { accountId: undefined, username: undefined, seesAll: true }

describeOnEachDatabase('resuming an upload', (start) => {
  test.each(['processing', 'ready'])(
    'while it becomes %s removes none of its bytes',
    async (status) => {
      const registry = await start()
      const token = await registry.register('ana')
      await registry.post('/v1/models', { token, body: { name: 'tide' } })
      const bytes = smallGguf(1)
      const files = '/v1/models/tide/files'
      const body = manifestFor('tide.gguf', bytes)
      const { body: begun }: { body: StartedUpload } = await registry.post(files, { token, body })
      const [chunk] = begun.upload.missing_chunks
      await registry.call('PUT', chunk?.url ?? '', { bytes })

      const { db } = await registry.connect()
      const directory = join(registry.config.dataDirectory, 'store')
      const store = await openDiskStore({ directory, signingKey: 'none', baseUrl: () => '' })
      /** A store in which another client completes the same upload while this call is in progress. */
      const overtaken: ObjectStore = {
        ...store,
        async startUpload(upload, layout) {
          await registry.post(`${files}/${begun.id}/complete`, { token })
          if (status === 'ready') await settled(registry, token, 'tide', begun.id)
          return store.startUpload(upload, layout)
        },
      }
      const trash = openTrash({ db, store, retentionDays: 7 })
      await startUpload(
        {
          db,
          store: overtaken,
          files: fileRepository(db, { countSeeders: async () => new Map() }),
          blobs: blobRepository(db),
          collect: garbageCollection(db, store, trash),
          trash,
          quotaBytes: undefined,
        },
        await modelRepository(db).getRow('tide', everything),
        everything,
        body,
      )

      expect(await settled(registry, token, 'tide', begun.id)).toMatchObject({ status: 'ready' })
      const { body: download } = await registry.get(`/v1/files/tide/download/${begun.id}`)
      const { direct_url } = download as { direct_url: string }
      expect(sha256((await registry.bytes(direct_url)).bytes)).toBe(sha256(bytes))
      expect(await readdir(join(directory, 'uploads'))).toEqual([])
    },
  )
})
