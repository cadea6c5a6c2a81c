import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelFile } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { readSecret } from '../../database/secret.ts'
import { publish, sha256, smallGguf } from '../../testing/publish.ts'
import { describeApi, type TestRegistry } from '../../testing/test-registry.ts'
import { capabilities } from './capability.ts'

describeApi(
  'a link to a complete file, for torrent clients',
  { on: ['SQLite', 'three nodes'] },
  (start, oneNodeTest) => {
    const bytes = smallGguf(1)
    let registry: TestRegistry
    let ana: string
    let file: ModelFile

    const eightDaysAgo = () => Date.now() - 8 * 86_400_000

    /** Returns the link that the registry would have issued at `madeAt`. */
    async function makeLink(file: ModelFile, madeAt: number, of = registry) {
      const { db } = await of.connect()
      const { bytesPath } = capabilities(db, await readSecret(db, 'signing-key'))
      return bytesPath({ ...file, visibility_version: 1 }, madeAt)
    }

    beforeAll(async () => {
      registry = await start()
      ana = await registry.register('ana')
      file = await publish(registry, ana, { name: 'tide' }, 'tide.gguf', bytes)
    })

    test('serves the file until it expires', async () => {
      const { status, bytes: found } = await registry.bytes(
        registry.url + (await makeLink(file, Date.now())),
      )
      expect([status, sha256(found)]).toEqual([200, file.sha256_hash])
    })

    test('redirects to a new link after it expires, if everyone may read the file', async () => {
      const expired = await makeLink(file, eightDaysAgo())
      const redirect = await registry.get(expired)
      expect(redirect.status).toBe(302)
      expect(redirect.headers.get('cache-control')).toBe('no-store')
      expect(redirect.headers.get('location')).toMatch(`${registry.url}/blobs/${file.id}.1.`)
      const part = await registry.bytes(registry.url + expired, { range: 'bytes=5-9' })
      expect([part.status, part.bytes.equals(bytes.subarray(5, 10))]).toEqual([206, true])
    })

    test('is refused if it has expired and any of its characters is changed', async () => {
      const expired = await makeLink(file, eightDaysAgo())
      const end = expired.lastIndexOf('/')
      for (let at = '/blobs/'.length; at < end; at += 5) {
        const other = expired[at] === '0' ? '1' : '0'
        const { status } = await registry.get(expired.slice(0, at) + other + expired.slice(at + 1))
        expect([at, status]).toEqual([at, 403])
      }
    })

    test('is not renewed for a private file', async () => {
      const model = { name: 'hidden', is_public: false }
      const hidden = await publish(registry, ana, model, 'hidden.gguf', bytes)
      expect((await registry.get(await makeLink(hidden, Date.now()))).status).toBe(200)
      expect((await registry.get(await makeLink(hidden, eightDaysAgo()))).status).toBe(403)
    })

    oneNodeTest(
      'may be cached only by the client, or not at all if the file is private',
      async () => {
        const getCacheControl = async (
          name: string,
          is_public: boolean,
          of: TestRegistry,
          token: string,
        ) => {
          const made = await publish(of, token, { name, is_public }, 'kept.gguf', bytes)
          return (await of.get(await makeLink(made, Date.now(), of))).headers.get('cache-control')
        }
        expect(await getCacheControl('kept', true, registry, ana)).toBe(
          'private, max-age=3600, immutable',
        )
        expect(await getCacheControl('unkept', false, registry, ana)).toBe('private, no-store')
        const closed = await start({ isAnonymousReadAllowed: false })
        const member = await closed.register('ana')
        expect(await getCacheControl('inside', true, closed, member)).toBe('private, no-store')
      },
    )

    test('is not renewed after its model becomes private or is deleted', async () => {
      const turned = await publish(registry, ana, { name: 'turned' }, 'turned.gguf', bytes)
      const expired = await makeLink(turned, eightDaysAgo())
      expect((await registry.get(expired)).status).toBe(302)
      const model = '/v1/models/turned'
      await registry.call('PATCH', model, { token: ana, body: { is_public: false } })
      expect((await registry.get(expired)).status).toBe(404)
      await registry.call('DELETE', model, { token: ana })
      expect((await registry.get(expired)).status).toBe(404)
    })

    oneNodeTest('returns 404 without range headers if the bytes are lost', async () => {
      const dataDirectory = await mkdtemp(join(tmpdir(), 'shoal-registry-'))
      const robbed = await start({ dataDirectory })
      const token = await robbed.register('ana')
      const lost = await publish(robbed, token, { name: 'tide' }, 'tide.gguf', bytes)
      const objects = join(dataDirectory, 'store', 'objects')
      for (const name of await readdir(objects)) await rm(join(objects, name), { recursive: true })
      const link = robbed.url + (await makeLink(lost, Date.now(), robbed))
      const { status, headers } = await robbed.bytes(link, { range: 'bytes=0-9' })
      expect(status).toBe(404)
      expect(headers.get('content-type')).toMatch('application/json')
      expect(headers.get('content-range') ?? headers.get('etag')).toBeNull()
    })

    test('is not renewed by a members-only registry', async () => {
      const closed = await start({ isAnonymousReadAllowed: false })
      const token = await closed.register('ana')
      const inside = await publish(closed, token, { name: 'tide' }, 'tide.gguf', bytes)
      expect((await closed.get(await makeLink(inside, eightDaysAgo(), closed))).status).toBe(403)
    })
  },
)
