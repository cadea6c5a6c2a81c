import { mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { openDiskStore } from '../../store/disk-store.ts'
import { startTestRegistry } from '../../testing/test-registry.ts'
import { openTrash } from '../rows/trash.ts'
import { collectRegularly } from './collect-regularly.ts'
import { garbageCollection } from './garbage-collection.ts'

test('unknown objects that fill the store are not collected, but logged as an error and exported as a metric', async () => {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.close())
  const directory = join(registry.config.dataDirectory, 'store')
  const folder = join(directory, 'objects', '00')
  await mkdir(folder, { recursive: true })
  const object = await open(join(folder, 'unknown-00'), 'w')
  await object.truncate(2_000_000_000)
  await object.close()

  const { db } = await registry.connect()
  const store = await openDiskStore({ directory, signingKey: 'none', baseUrl: () => '' })
  const trash = openTrash({ db, store, retentionDays: 7 })
  const metrics = new Registry()
  const errors: string[] = []
  const stop = collectRegularly({
    db,
    collect: garbageCollection(db, store, trash),
    trash,
    deleteExpired: async () => undefined,
    metrics,
    log: { info: () => undefined, error: (_details, message) => errors.push(message) },
    intervalMs: 20,
  })
  onTestFinished(stop)

  await expect.poll(() => errors).toContainEqual(expect.stringContaining('shoal admin gc --yes'))
  expect(await metrics.metrics()).toContain('shoal_garbage_held_back_bytes 2000000000\n')
  expect(await readdir(folder)).toEqual(['unknown-00'])
})
