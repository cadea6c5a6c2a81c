/** Tests that after one node has made a model private, no other node serves it to strangers, even from a cache. */
import type { ModelFile } from '@shoal/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasPostgres, hasRedis, hasS3, redisUrl } from '../../../testing/servers.ts'
import { publish, smallGguf } from './testing/publish.ts'
import { rawAnnounce } from './testing/raw-announce.ts'
import { makeBucket } from './testing/s3-bucket.ts'
import {
  type Answer,
  makeDatabase,
  startTestRegistry,
  type TestRegistry,
} from './testing/test-registry.ts'

const displayName = 'Secret Harbour'
const tag = 'secret-harbour'
const marks = /secret.harbour|\/m\/tide\b/i

describe.skipIf(!hasPostgres || !hasS3 || !hasRedis)('a stranger at another node', () => {
  const started: TestRegistry[] = []
  let one: TestRegistry
  let two: TestRegistry
  let ana: string
  let file: ModelFile

  beforeAll(async () => {
    const [databaseUrl, bucket] = await Promise.all([makeDatabase(), makeBucket()])
    const settings = { databaseUrl, s3: bucket, redisUrl: await redisUrl(), peerPort: undefined }
    one = await startTestRegistry(settings)
    started.push(one)
    two = await startTestRegistry(settings)
    started.push(two)
    ana = await one.register('ana')
    const model = { name: 'tide', display_name: displayName, tags: [tag], readme: displayName }
    file = await publish(one, ana, model, 'tide.gguf', smallGguf(1))
  })
  afterAll(() => Promise.all(started.map((registry) => registry.close())))

  const setPublic = async (node: TestRegistry, is_public: boolean) => {
    const changes = { token: ana, body: { is_public } }
    expect((await node.call('PATCH', '/v1/models/tide', changes)).status).toBe(200)
  }

  /** Paths whose responses list public models. */
  const lists = () => [
    '/',
    '/?q=secret',
    '/u/ana',
    '/v1/models',
    '/v1/models?q=secret',
    '/v1/models?owner=ana',
    '/v1/facets',
    '/feed.atom',
    '/feed.atom?q=secret',
    '/u/ana/feed.atom',
    '/sitemap.xml',
  ]

  /** Paths of the model and of its file. */
  const details = () => [
    '/m/tide',
    '/v1/models/tide',
    '/v1/models/tide/card',
    '/v1/models/tide/files',
    `/v1/models/tide/files/${file.id}`,
    `/v1/files/tide/download/${file.id}`,
    `/v1/files/tide/torrent/${file.id}`,
    `/v1/files/chunks/${file.sha256_hash}`, // the only chunk is the whole file
  ]

  const isServed = ({ status }: Answer) => status < 400
  const isListed = (answer: Answer) => isServed(answer) && marks.test(answer.text)

  /** Returns the paths whose responses show the model. Pages are served only at the base URL. */
  async function listShown(node: TestRegistry): Promise<string[]> {
    const isShown = async (path: string, test: (answer: Answer) => boolean) =>
      test(await node.get(node.url + path)) ? [path] : []
    const shown = await Promise.all([
      ...lists().map((path) => isShown(path, isListed)),
      ...details().map((path) => isShown(path, isServed)),
    ])
    return shown.flat()
  }

  const countCached = async (node: TestRegistry, name: string) => {
    const { text } = await node.get('/metrics')
    return Number(new RegExp(`^shoal_${name}_cache_entries (\\d+)`, 'm').exec(text)?.[1])
  }

  /** Resolves when the node shows the model everywhere, and has cached responses of both kinds. */
  async function untilCached(node: TestRegistry) {
    await expect.poll(() => listShown(node)).toEqual([...lists(), ...details()])
    for (const name of ['response', 'presigned']) {
      await expect
        .poll(async () => {
          await listShown(node)
          // `listShown` makes the node count downloads, which invalidates the cached responses. Request the lists
          // again.
          for (const path of lists()) await node.get(node.url + path)
          return countCached(node, name)
        })
        .toBeGreaterThan(0)
    }
  }

  test('sees a private model neither in lists, pages and feeds nor through its own URLs', async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      const [writer, reader] = turn % 2 === 0 ? [one, two] : [two, one]
      await untilCached(reader)
      await setPublic(writer, false)
      expect(await listShown(reader)).toEqual([])
      await setPublic(writer, true)
    }
  })

  test('cannot use a URL to which a chunk request was redirected earlier, or the torrent’s swarm', async () => {
    await untilCached(two)
    const chunk = await two.get(`/v1/files/chunks/${file.sha256_hash}`)
    const { pathname } = new URL(chunk.headers.get('location') ?? '')
    expect(await two.get(pathname)).toSatisfy(isServed)
    const infoHash = { info_hash: file.torrent_info_hash ?? '' }
    expect((await rawAnnounce(two, infoHash)).failure).toBeUndefined()

    await setPublic(one, false)
    expect(await two.get(pathname)).not.toSatisfy(isServed)
    // For two seconds, the tracker caches whether a torrent is public.
    await expect
      .poll(() => rawAnnounce(two, infoHash))
      .toMatchObject({ failure: expect.stringContaining('not track') })
    await setPublic(one, true)
  })
})
