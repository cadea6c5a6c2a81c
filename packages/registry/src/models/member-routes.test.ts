import type {
  AuditEntry,
  Download,
  Facets,
  Member,
  Model,
  ModelFile,
  ModelRecord,
} from '@shoal/protocol'
import { beforeEach, expect, test } from 'vitest'
import { manifestFor, publish, smallGguf } from '../testing/publish.ts'
import { describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'

const bytes = smallGguf(1)
const tide = { name: 'tide', is_public: false, tags: ['secret-tag'], readme: 'A *tide*.' }

describeOnEachDatabase('the members of a private model', (start) => {
  let registry: TestRegistry
  let admin: string
  let ana: string
  let ben: string
  let file: ModelFile

  beforeEach(async () => {
    registry = await start({ quotaBytes: 1_000_000 })
    admin = await registry.register('admin')
    ana = await registry.register('ana')
    ben = await registry.register('ben')
    file = await publish(registry, ana, tide, 'tide.gguf', bytes)
  })

  const share = (right: string, { token = ana, username = 'ben' } = {}) =>
    registry.call('PUT', `/v1/models/tide/members/${username}`, { token, body: { right } })
  const unshare = (username: string, token = ana) =>
    registry.call('DELETE', `/v1/models/tide/members/${username}`, { token })
  const statusOf = async (path: string, token?: string) =>
    (await registry.get(path, { token })).status
  const listMembers = async (token = ana) => {
    const { status, body } = await registry.get('/v1/models/tide/members', { token })
    return status === 200
      ? (body as Member[]).map(({ username, right }) => [username, right])
      : status
  }
  const found = async (path: string, token: string) =>
    ((await registry.get(path, { token })).body as Model[]).map(({ name }) => name)

  /** Returns what a user sees of the model in each place where the model could appear. */
  async function seen(token: string) {
    const chunk = (await downloadOf(ana)).chunk_hashes[0]?.hash
    const facets = (await registry.get('/v1/facets', { token })).body as Facets
    const statuses = [
      '/v1/models/tide',
      '/v1/models/tide/card',
      '/v1/models/tide/files',
      `/v1/models/tide/files/${file.id}`,
      `/v1/files/tide/download/${file.id}`,
      `/v1/files/tide/torrent/${file.id}`,
    ].map((path) => statusOf(path, token))
    return {
      statuses: await Promise.all(statuses),
      chunk: [200, 302].includes(await statusOf(`/v1/files/chunks/${chunk}`, token)),
      lists: [
        await found('/v1/models', token),
        await found('/v1/models?q=tide', token),
        await found('/v1/models?owner=ana', token),
      ],
      facets: facets.tags.map(({ value }) => value),
    }
  }

  async function downloadOf(token: string): Promise<Download> {
    return (await registry.get(`/v1/files/tide/download/${file.id}`, { token })).body as Download
  }

  const everything = {
    statuses: [200, 200, 200, 200, 200, 200],
    chunk: true,
    lists: [['tide'], ['tide'], ['tide']],
    facets: ['secret-tag'],
  }
  const nothing = {
    statuses: [404, 404, 404, 404, 404, 404],
    chunk: false,
    lists: [[], [], []],
    facets: [],
  }

  test('see it everywhere, and other users do not', async () => {
    const cleo = await registry.register('cleo')
    expect(await seen(ben)).toEqual(nothing)
    expect(await share('read')).toMatchObject({
      status: 200,
      body: { username: 'ben', right: 'read' },
    })
    await expect.poll(() => seen(ben)).toEqual(everything)
    expect(await seen(cleo)).toEqual(nothing)
    expect((await unshare('ben')).status).toBe(204)
    await expect.poll(() => seen(ben)).toEqual(nothing)
    await expect.poll(() => seen(ana)).toEqual(everything)
  })

  test('are listed only for the owner, members and administrators, even if the model is public', async () => {
    await share('read')
    const cleo = await registry.register('cleo')
    await registry.call('PATCH', '/v1/models/tide', { token: ana, body: { is_public: true } })
    expect(await listMembers(cleo)).toBe(403)
    for (const token of [ana, ben, admin])
      expect(await listMembers(token)).toEqual([['ben', 'read']])
  })

  test('read with an API key only if it has the scope read', async () => {
    await share('read')
    const makeKey = async (scopes: string[]) =>
      (
        (await registry.post('/v1/api-keys', { token: ben, body: { name: 'key', scopes } }))
          .body as { key: string }
      ).key
    expect(await statusOf('/v1/models/tide', await makeKey(['read']))).toBe(200)
    expect(await statusOf('/v1/models/tide', await makeKey(['write']))).toBe(404)
  })

  test('change it only with the right to write', async () => {
    const edit = () =>
      registry.call('PATCH', '/v1/models/tide', { token: ben, body: { description: 'by ben' } })
    const upload = () =>
      registry.post('/v1/models/tide/files', {
        token: ben,
        body: manifestFor('other.gguf', smallGguf(2)),
      })
    await share('read')
    expect([(await edit()).status, (await upload()).status]).toEqual([403, 403])
    expect((await share('write')).status).toBe(200)
    expect(await listMembers()).toEqual([['ben', 'write']])
    expect([(await edit()).status, (await upload()).status]).toEqual([200, 201])
    const all = await registry.get('/v1/models/tide/files?status=all', { token: ben })
    expect((all.body as ModelFile[]).map(({ status }) => status).sort()).toEqual([
      'ready',
      'uploading',
    ])
    expect((await share('read')).status).toBe(200)
    expect((await edit()).status).toBe(403)
  })

  test('the record of a model states whether the caller can change it', async () => {
    const canWrite = async (token?: string) =>
      ((await registry.get('/v1/models/tide', { token })).body as ModelRecord).can_write
    expect(await Promise.all([ana, admin].map(canWrite))).toEqual([true, true])
    await share('read')
    expect(await canWrite(ben)).toBe(false)
    await share('write')
    expect(await canWrite(ben)).toBe(true)
    const body = { name: 'key', scopes: ['read'] }
    const { body: made } = await registry.post('/v1/api-keys', { token: ben, body })
    expect(await canWrite((made as { key: string }).key)).toBe(false)
    const changes = { token: ben, body: { is_public: true } }
    const { body: changed } = await registry.call('PATCH', '/v1/models/tide', changes)
    expect(changed).toMatchObject({ is_public: true, can_write: true })
    await expect.poll(() => canWrite()).toBe(false)
  })

  test('are managed by the owner and administrators, and can leave', async () => {
    const cleo = await registry.register('cleo')
    await share('write')
    expect((await share('read', { token: ben, username: 'cleo' })).status).toBe(403)
    expect((await share('read', { token: cleo, username: 'cleo' })).status).toBe(404)
    expect((await share('read', { token: admin, username: 'cleo' })).status).toBe(200)
    expect(await listMembers(cleo)).toEqual([
      ['ben', 'write'],
      ['cleo', 'read'],
    ])
    expect((await unshare('cleo', ben)).status).toBe(403)
    expect((await unshare('ben', ben)).status).toBe(204)
    expect(await listMembers(ben)).toBe(404)
    expect((await unshare('ben')).status).toBe(404)
    expect((await share('read', { username: 'nobody' })).status).toBe(404)
    expect((await share('read', { username: 'ana' })).status).toBe(409)
    expect((await share('own')).status).toBe(422)
  })

  test('lose the links to its files when their membership ends', async () => {
    await share('read')
    const link = new URL((await downloadOf(ben)).torrent_url).pathname
    expect(await statusOf(link)).toBe(200)
    await unshare('ben')
    expect(await statusOf(link)).toBe(404)
  })

  test('only an administrator changes the owner, and the previous owner remains a member', async () => {
    await share('write')
    const give = (username: string, token: string) =>
      registry.call('PUT', '/v1/models/tide/owner', { token, body: { username } })
    for (const token of [ana, ben]) expect((await give('ben', token)).status).toBe(403)
    expect((await give('nobody', admin)).status).toBe(404)
    for (const username of ['ana', 'ben', 'ben']) {
      expect((await give(username, admin)).status).toBe(204)
    }
    expect((await registry.get('/v1/models/tide', { token: ben })).body).toMatchObject({
      owner: 'ben',
    })
    expect(await listMembers(ben)).toEqual([['ana', 'read']])
    const { body } = await registry.get('/v1/admin/audit?subject=tide', { token: admin })
    expect((body as AuditEntry[]).map(({ action }) => action)).toEqual([
      'model.owner_changed',
      'model.member_set',
    ])
    await expect.poll(() => found('/v1/models?owner=ben', ana)).toEqual(['tide'])
  })

  test('if a model is given to two new owners at the same time, one of them becomes the owner', async () => {
    const cleo = await registry.register('cleo')
    const give = (username: string) =>
      registry.call('PUT', '/v1/models/tide/owner', { token: admin, body: { username } })
    const answers = await Promise.all([give('ben'), give('cleo')])
    const owner = ((await registry.get('/v1/models/tide', { token: admin })).body as Model).owner
    expect(['ben', 'cleo']).toContain(owner)
    expect(answers.map(({ status }) => status).sort()).not.toContain(500)
    expect(await listMembers(owner === 'ben' ? ben : cleo)).toContainEqual(['ana', 'read'])
  })

  test('a disabled account cannot become a member or an owner', async () => {
    await registry.call('PATCH', '/v1/admin/users/ben', {
      token: admin,
      body: { is_disabled: true },
    })
    expect((await share('read')).status).toBe(409)
    const body = { username: 'ben' }
    const given = await registry.call('PUT', '/v1/models/tide/owner', { token: admin, body })
    expect(given.status).toBe(409)
  })

  test('setting the same right again changes nothing', async () => {
    await share('read')
    const version = async () => (await downloadOf(ben)).torrent_url
    const before = await version()
    await share('read')
    expect(await version()).toBe(before)
    const { body } = await registry.get('/v1/admin/audit?subject=tide', { token: admin })
    expect(body as AuditEntry[]).toHaveLength(1)
  })

  test('a member whose account is disabled sees nothing, and its links become invalid', async () => {
    await share('read')
    const link = new URL((await downloadOf(ben)).torrent_url).pathname
    await registry.call('PATCH', '/v1/admin/users/ben', {
      token: admin,
      body: { is_disabled: true },
    })
    expect(await statusOf(link)).toBe(404)
    expect(await statusOf('/v1/models/tide', ben)).toBe(401)
  })

  test('each change is recorded in the audit log', async () => {
    await share('read')
    await unshare('ben')
    const { body } = await registry.get('/v1/admin/audit?subject=tide', { token: admin })
    const entries = body as AuditEntry[]
    expect(entries.map(({ actor, action, detail }) => [actor, action, detail])).toEqual([
      ['ana', 'model.member_removed', { member: 'ben' }],
      ['ana', 'model.member_set', { member: 'ben', right: 'read' }],
    ])
  })
})
