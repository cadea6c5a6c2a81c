/** Tests two nodes of one registry, which share only PostgreSQL, S3 and Redis. */
import type { ModelFile, StartedUpload } from '@shoal/protocol'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../testing/redis.ts'
import { hasPostgres, hasRedis, hasS3 } from '../../../testing/servers.ts'
import { manifestFor, publish, settled, sha256, smallGguf } from './testing/publish.ts'
import { rawAnnounce, twenty } from './testing/raw-announce.ts'
import { makeBucket } from './testing/s3-bucket.ts'
import { makeDatabase, startTestRegistry, type TestRegistry } from './testing/test-registry.ts'
import { answer, bytes, closeBrowsers, offer, openBrowser } from './testing/tracker-browser.ts'

const isInstalled = hasPostgres && hasS3 && hasRedis

const authLimit = 30
const minute = { windowSeconds: 60 }
const rateLimits = {
  auth: { max: authLimit, ...minute },
  write: { max: 10_000, ...minute },
  read: { max: 10_000, ...minute },
  chunk: { max: 10_000, ...minute },
  tracker: { max: 10_000, ...minute },
}

describe.skipIf(!isInstalled)('two nodes of one registry', () => {
  let redis: RedisServer
  let one: TestRegistry
  let two: TestRegistry
  let token: string
  let file: ModelFile

  beforeAll(async () => {
    const started = await startRedis()
    if (!started) throw new Error('Redis is not installed')
    redis = started
    const settings = {
      databaseUrl: await makeDatabase(),
      s3: await makeBucket(),
      redisUrl: redis.url,
      rateLimits,
      peerPort: undefined,
      processingPollMs: 3_600_000, // so that only a notification can wake an idle node
    }
    one = await startTestRegistry(settings)
    two = await startTestRegistry(settings)
    token = await one.register('ana')
    file = await publish(one, token, { name: 'tide' }, 'tide.gguf', smallGguf(1))
  })
  afterAll(async () => {
    closeBrowsers()
    await Promise.all([one?.close(), two?.close()])
    await redis?.stop()
  })

  const announce = (node: TestRegistry, number: number, left: number) =>
    rawAnnounce(node, {
      info_hash: file.torrent_info_hash ?? '',
      peer_id: twenty(number),
      port: 6_000 + number,
      left,
    })
  const countSeeders = async (node: TestRegistry) =>
    ((await node.get(`/v1/models/tide/files/${file.id}`)).body as ModelFile).seeders
  const getReadiness = async (node: TestRegistry) =>
    (await node.get('/readyz')).body as { status: string }

  test('show the same models and files, and send the same bytes', async () => {
    for (const node of [one, two]) {
      const { body } = await node.get(`/v1/files/tide/download/${file.id}`)
      const response = await fetch((body as { direct_url: string }).direct_url)
      expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(file.sha256_hash)
    }
  })

  test('share an upload that is started on both at once, sent to the store, and completed on one', async () => {
    const gguf = smallGguf(2)
    const body = manifestFor('shared.gguf', gguf)
    const files = '/v1/models/tide/files'
    const [begun, again] = await Promise.all([
      one.post(files, { token, body }),
      two.post(files, { token, body }),
    ])
    const found = begun.status < 300 ? begun : again
    const { id, upload }: StartedUpload = found.body
    for (const { url, headers } of upload.missing_chunks) {
      expect((await one.call('PUT', url, { headers, bytes: gguf })).status).toBe(200)
    }
    expect((await two.post(`${files}/${id}/complete`, { token })).status).toBe(202)
    expect(await settled(one, token, 'tide', id)).toMatchObject({ status: 'ready' })
  })

  test('are notified of files to process, without polling', async () => {
    const gguf = smallGguf(3)
    const files = '/v1/models/tide/files'
    const { body } = await one.post(files, { token, body: manifestFor('told.gguf', gguf) })
    const { id, upload } = body as StartedUpload
    for (const { url, headers } of upload.missing_chunks) {
      expect((await one.call('PUT', url, { headers, bytes: gguf })).status).toBe(200)
    }
    // Act as if a third node had submitted the file for processing and had then stopped.
    const client = new pg.Client({ connectionString: one.config.databaseUrl })
    await client.connect()
    await client.query(`update file set status = 'processing' where id = $1`, [id])
    await client.end()
    await expect
      .poll(async () => (await two.get(`${files}/${id}`, { token })).body)
      .toMatchObject({ status: 'ready' })
  })

  test('return the same peers to clients that announce', async () => {
    await announce(one, 1, 0)
    const { peers, complete, incomplete } = await announce(two, 2, 1)
    expect({ peers, complete, incomplete }).toEqual({
      peers: ['127.0.0.1:6001'],
      complete: 1,
      incomplete: 1,
    })
    for (const node of [one, two]) await expect.poll(() => countSeeders(node)).toBe(1)
  })

  test('forward browsers’ offers and answers to each other', async () => {
    const [here, there] = [
      await openBrowser(`ws://127.0.0.1:${one.port}/announce`, 8),
      await openBrowser(`ws://127.0.0.1:${two.port}/announce`, 9),
    ]
    const infoHash = file.torrent_info_hash ?? ''
    await here.join(infoHash)
    await there.join(infoHash, { offers: [{ offer, offer_id: 'x' }] })
    expect(await here.hear()).toMatchObject({ offer, offer_id: 'x', peer_id: bytes(there.peerId) })
    here.announce(infoHash, { answer, offer_id: 'x', to_peer_id: bytes(there.peerId) })
    expect(await there.hear()).toMatchObject({ answer, offer_id: 'x' })
  })

  /** Signs in with wrong passwords, on each of `nodes` in turn. Returns how many attempts the rate limit allowed. */
  async function guess(count: number, nodes: TestRegistry[]): Promise<number> {
    let passed = 0
    for (let index = 0; index < count; index += 1) {
      const body = { username: `nobody-${index}`, password: 'wrong password' }
      const refused = await nodes[index % nodes.length]?.post('/v1/auth/login', { body })
      if (refused?.status !== 429) passed += 1
    }
    return passed
  }

  test('count sign-ins together, or separately while Redis is down', async () => {
    const used = 1 // the registration
    expect(await guess(80, [one, two])).toBe(authLimit - used)

    await redis.kill()
    await expect.poll(() => getReadiness(one)).toMatchObject({ status: 'degraded' })
    expect((await one.get('/readyz')).status).toBe(200)
    const passed = (await guess(40, [one])) + (await guess(40, [two]))
    // Each node has counted only the sign-ins that it received itself, which are half of the earlier sign-ins.
    expect(passed).toBeLessThanOrEqual(authLimit + used)
    expect(await guess(20, [one, two])).toBe(0)

    await announce(one, 3, 0)
    expect((await announce(one, 4, 1)).complete).toBe(1)
    expect((await announce(two, 5, 1)).complete).toBe(0)

    await redis.start()
    for (const node of [one, two]) {
      await expect.poll(() => getReadiness(node)).toEqual({ status: 'ready' })
    }
    await announce(one, 3, 0)
    expect((await announce(two, 5, 1)).complete).toBe(1)
  })

  test('continue to work while Redis hangs with its connections open', async () => {
    redis.pause()
    await expect.poll(() => announce(one, 3, 0)).toMatchObject({ complete: 1 })
    expect(await getReadiness(one)).toMatchObject({ status: 'degraded' })
    redis.resume()
    for (const node of [one, two]) {
      await expect.poll(() => getReadiness(node)).toEqual({ status: 'ready' })
    }
  })

  const countCached = async (node: TestRegistry) => {
    const { text } = await node.get('/metrics')
    return Number(/^shoal_response_cache_entries (\d+)/m.exec(text)?.[1])
  }
  const setPublic = (node: TestRegistry, is_public: boolean) =>
    node.call('PATCH', '/v1/models/tide', { token, body: { is_public } })
  const listNames = async (node: TestRegistry) =>
    ((await node.get('/v1/models')).body as { name: string }[]).map(({ name }) => name)

  test('cache responses, and never serve a model that the other node has made private', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      const [writer, reader] = turn % 2 === 0 ? [one, two] : [two, one]
      await expect.poll(() => listNames(reader)).toEqual(['tide'])
      await expect
        .poll(async () => {
          await listNames(reader)
          await reader.get('/v1/models/tide')
          return countCached(reader)
        })
        .toBeGreaterThan(1)
      expect((await setPublic(writer, false)).status).toBe(200)
      expect(await listNames(reader)).toEqual([])
      expect((await reader.get('/v1/models/tide')).status).toBe(404)
      expect(await listNames(writer)).toEqual([])
      await setPublic(writer, true)
      expect(await listNames(writer)).toEqual(['tide'])
    }
  })

  test('show each other’s downloads within seconds', async () => {
    const getDownloads = async (node: TestRegistry) =>
      ((await node.get('/v1/models/tide')).body as { downloads: number }).downloads
    const before = await getDownloads(two)
    await one.get(`/v1/files/tide/download/${file.id}`)
    expect(await getDownloads(one)).toBe(before + 1)
    await expect.poll(() => getDownloads(two)).toBe(before + 1)
  })

  test('cache nothing while they receive no notifications, and still never serve a private model', async () => {
    const client = new pg.Client({ connectionString: one.config.databaseUrl })
    await client.connect()
    const cutListeners = () =>
      client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and (query like 'listen %' or query like '%pg_notify(%')
          and pid <> pg_backend_pid()`)
    for (let turn = 0; turn < 5; turn += 1) {
      await expect.poll(() => listNames(two)).toEqual(['tide'])
      await cutListeners()
      await setPublic(one, false)
      expect(await listNames(two)).toEqual([])
      await setPublic(one, true)
    }
    await client.end()
    await expect
      .poll(async () => {
        await listNames(two)
        return countCached(two)
      })
      .toBeGreaterThan(0)
  })
})
