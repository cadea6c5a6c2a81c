import { createHash } from 'node:crypto'
import type { ModelFile } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { computeReq2Hash } from '../database/req2-hash.ts'
import { undoMigrations } from '../testing/older-database.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'
import { type MetadataSource, metadataSource } from './source.ts'

describeOnEachDatabase('the metadata', (start) => {
  let registry: TestRegistry
  let ana: string
  let file: ModelFile
  let source: MetadataSource

  const getInfoHash = (torrent: Pick<ModelFile, 'torrent_info_hash'>) =>
    torrent.torrent_info_hash ?? ''

  async function isFound(infoHash: string): Promise<boolean[]> {
    const found = await source.find(infoHash)
    const byReq2 = await source.findInfoHash(computeReq2Hash(infoHash))
    return [found !== undefined, byReq2 === infoHash]
  }

  beforeAll(async () => {
    registry = await start()
    ana = await registry.register('ana')
    file = await publish(registry, ana, { name: 'tide' }, 'tide.gguf', smallGguf(1))
    source = metadataSource((await registry.connect()).db)
  })

  test('of a public file is the info dictionary whose SHA-1 is the info hash', async () => {
    const torrent = await source.find(getInfoHash(file))
    const info = (await torrent?.readInfo()) ?? ''
    expect(createHash('sha1').update(info).digest('hex')).toBe(file.torrent_info_hash)
    expect(await torrent?.readInfo()).toEqual(info)
    expect(await isFound(getInfoHash(file))).toEqual([true, true])
  })

  test('of an unknown torrent is not found', async () => {
    expect(await isFound('00'.repeat(20))).toEqual([false, false])
  })

  test('of a private file is not served for either of its info hashes', async () => {
    const model = { name: 'hidden', is_public: false }
    const hidden = await publish(registry, ana, model, 'hidden.gguf', smallGguf(2))
    expect(await isFound(getInfoHash(hidden))).toEqual([false, false])
    const { db } = await registry.connect()
    const { public_info_hash } = await db
      .selectFrom('file')
      .select('public_info_hash')
      .where('id', '=', hidden.id)
      .executeTakeFirstOrThrow()
    expect(await isFound(public_info_hash ?? '')).toEqual([false, false])
  })

  test('of a file is no longer served as soon as its model becomes private', async () => {
    const changing = await publish(registry, ana, { name: 'changing' }, 'a.gguf', smallGguf(3))
    await (await source.find(getInfoHash(changing)))?.readInfo()
    const change = (is_public: boolean) =>
      registry.call('PATCH', '/v1/models/changing', { token: ana, body: { is_public } })
    await change(false)
    expect(await isFound(getInfoHash(changing))).toEqual([false, false])
    await change(true)
    expect(await isFound(getInfoHash(changing))).toEqual([true, true])
  })

  test('of a file in two models is served while at least one of the models is public', async () => {
    const bytes = smallGguf(4)
    const open = await publish(registry, ana, { name: 'open' }, 'same.gguf', bytes)
    await publish(registry, ana, { name: 'closed', is_public: false }, 'same.gguf', bytes)
    expect(await isFound(getInfoHash(open))).toEqual([true, true])
    await registry.call('DELETE', '/v1/models/open', { token: ana })
    expect(await isFound(getInfoHash(open))).toEqual([false, false])
  })

  test('is found for encrypted connections even if its file was published before the index existed', async () => {
    await undoMigrations(await registry.connect(), '0002_torrent_lookup')
    await registry.restart()
    expect(await isFound(getInfoHash(file))).toEqual([true, true])
  })
})
