import type { Model, ModelRecord } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { manifestFor, publish, smallGguf } from '../testing/publish.ts'
import { describeApi, everywhere, type TestRegistry } from '../testing/test-registry.ts'

describeApi('models', { on: everywhere }, (start, oneNodeTest) => {
  let registry: TestRegistry
  let ana: string
  let ben: string

  const list = async (query: string, token?: string): Promise<string[]> => {
    const { body }: { body: Model[] } = await registry.get(`/v1/models?${query}`, { token })
    return body.map(({ name }) => name)
  }
  const create = (token: string, body: object) => registry.post('/v1/models', { token, body })
  const getModel = async (name: string, token?: string): Promise<ModelRecord> =>
    (await registry.get(`/v1/models/${name}`, { token })).body

  beforeAll(async () => {
    registry = await start()
    ana = await registry.register('ana')
    ben = await registry.register('ben')
    await create(ana, {
      name: 'llama-tide-8b',
      display_name: 'Llama Tide 8B',
      description: 'A general assistant for many languages.',
      license: 'apache-2.0',
      architecture: 'llama',
      parameter_count: 8_000_000_000,
      tags: ['chat', 'multilingual'],
    })
    await create(ana, {
      name: 'coral-coder',
      description: 'Writes code. Not related to the llama at all.',
      architecture: 'qwen2',
      parameter_count: 3_000_000_000,
      license: 'mit',
      tags: ['code'],
    })
    await create(ben, { name: 'mistral-drift', architecture: 'mistral', tags: ['chat', 'Ünïcode'] })
    await create(ben, {
      name: 'ben-secret',
      is_public: false,
      architecture: 'llama',
      tags: ['chat'],
    })
  })

  test('a model has every field of the API; fields without a value are null or empty', async () => {
    expect(await getModel('mistral-drift')).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'mistral-drift',
      display_name: 'mistral-drift',
      description: null,
      license: null,
      architecture: 'mistral',
      parameter_count: null,
      context_length: null,
      tags: ['chat', 'Ünïcode'],
      downloads: 0,
      likes: 0,
      is_public: true,
      owner: 'ben',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
      liked: null,
      quantizations: [],
      min_file_size_bytes: null,
      min_memory_bytes: null,
      cache_bytes_per_token: null,
      readme: null,
      files_count: 0,
      total_size_bytes: 0,
      can_write: false,
    })
  })

  test('creating a model returns 201 with its Location, or 409 if the name is taken', async () => {
    const created = await create(ana, { name: 'short-lived' })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe('/v1/models/short-lived')
    const again = await create(ben, { name: 'short-lived' })
    expect(again.status).toBe(409)
    expect(again.body).toEqual({ detail: 'the name short-lived is taken', code: 'name_taken' })
    const deleted = await registry.call('DELETE', '/v1/models/short-lived', { token: ana })
    expect(deleted.status).toBe(204)
    expect(deleted.text).toBe('')
    expect((await registry.get('/v1/models/short-lived')).status).toBe(404)
  })

  test.each([
    ['a', 422],
    ['-tide', 422],
    ['Tide', 422],
    ['a/b', 422],
    ['chunks', 422],
    ['con.v2', 422],
    ['0198d9f2-1111-7222-8333-444455556666', 422],
    ['x'.repeat(97), 422],
  ])('the name %s is refused with %i', async (name, status) => {
    const refused = await create(ana, { name })
    expect(refused.status).toBe(status)
    expect(refused.body).toMatchObject({ detail: expect.any(String), errors: [{ path: '/name' }] })
  })

  test('front matter fills in a license and tags that the owner has left empty', async () => {
    const makeCard = (license: string) =>
      `---\nlicense: ${license}\nlanguage: en\ntags: [ocean]\nbase_model: ana/tide\n---\n# Tide`
    const fromCard = { license: 'isc', tags: ['ocean', 'en', 'base_model:ana/tide'] }
    const path = '/v1/models/carded'
    const change = async (body: object) =>
      (await registry.call('PATCH', path, { token: ana, body })).body

    const created = await create(ana, { name: 'carded', readme: makeCard('isc') })
    expect(created.body).toMatchObject(fromCard)
    expect((await registry.get('/v1/models?tag=en&license=isc')).body).toMatchObject([
      { name: 'carded' },
    ])
    // A form sends back all its fields. Fields that were not changed continue to follow the card.
    expect(await change({ ...fromCard, readme: makeCard('mit') })).toMatchObject({ license: 'mit' })

    expect(await change({ license: 'own', tags: ['river'] })).toMatchObject({ license: 'own' })
    const own = { license: 'own', tags: ['river'] }
    expect(await change({ readme: makeCard('gpl-3.0') })).toMatchObject(own)
    expect(await change({ readme: null })).toMatchObject(own)
    expect(await change({ readme: makeCard('gpl-3.0') })).toMatchObject(own)

    expect(await change({ license: null, tags: [] })).toMatchObject({
      license: 'gpl-3.0',
      tags: fromCard.tags,
    })
    expect(await change({ readme: null })).toMatchObject({ license: null, tags: [] })
    await registry.call('DELETE', path, { token: ana })
  })

  test('a field of the wrong type, even a number sent as a string, gets 422 with the path of the field', async () => {
    const { status, body } = await create(ana, { name: 'tide', parameter_count: '5' })
    expect(status).toBe(422)
    expect(body).toMatchObject({ errors: [{ path: '/parameter_count' }] })
    const unreadable = await registry.post('/v1/models', {
      token: ana,
      bytes: '{"name":',
      headers: { 'content-type': 'application/json' },
    })
    expect(unreadable.status).toBe(400)
    expect(unreadable.body).toEqual({ detail: expect.any(String) })
  })

  test('the Link header contains only parameters that the list defines', async () => {
    const { headers } = await registry.get('/v1/models?junk=1&limit=1&tag=chat&x[y]=2&__proto__=3')
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '') ?? []
    expect([...new URL(next).searchParams.keys()].toSorted()).toEqual([
      'cursor',
      'limit',
      'offset',
      'order',
      'sort',
      'tag',
    ])
    const second = await registry.get(`${new URL(next).pathname}${new URL(next).search}&junk=4`)
    expect(second.headers.get('link')).toMatch(/rel="prev"$/)
    expect(second.headers.get('link')).not.toContain('junk')
  })

  test('the list is a bare array, with the total in a header', async () => {
    const { status, headers, body } = await registry.get('/v1/models')
    expect(status).toBe(200)
    expect(body).toHaveLength(3)
    expect(headers.get('x-total-count')).toBe('3')
  })

  test.each(['limit=0', 'limit=201', 'limit=x', 'offset=-1', 'sort=size', 'order=up'])(
    'the query %s gets 400',
    async (query) => {
      const { status, body } = await registry.get(`/v1/models?${query}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({ detail: expect.any(String) })
    },
  )

  test('following the Link headers lists each model once', async () => {
    const seen: string[] = []
    let next: string | undefined = '/v1/models?limit=1&sort=created_at'
    while (next) {
      const { body, headers }: { body: Model[]; headers: Headers } = await registry.get(
        next.replace(registry.url, ''),
      )
      seen.push(...body.map(({ name }) => name))
      next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(['mistral-drift', 'coral-coder', 'llama-tide-8b'])
  })

  test.each([
    ['architecture=llama', ['llama-tide-8b']],
    ['license=mit', ['coral-coder']],
    ['owner=ben', ['mistral-drift']],
    ['tag=chat&sort=created_at', ['mistral-drift', 'llama-tide-8b']],
    ['tag=chat&tag=multilingual', ['llama-tide-8b']],
    ['min_parameters=4000000000', ['llama-tide-8b']],
    ['max_parameters=4000000000', ['coral-coder']],
    ['max_file_size_bytes=1', []],
    ['quantization=Q4_0', []],
    ['sort=created_at&order=asc', ['llama-tide-8b', 'coral-coder', 'mistral-drift']],
  ])('%s lists %j', async (query, names) => {
    expect(await list(query)).toEqual(names)
  })

  test.each([
    ['llama', ['coral-coder', 'llama-tide-8b']],
    ['llam', ['coral-coder', 'llama-tide-8b']],
    ['tide llama', ['llama-tide-8b']],
    ['LLAMA-TIDE', ['llama-tide-8b']],
    ['languages assistant', ['llama-tide-8b']],
    ['mistrl', ['mistral-drift']],
    ['mistrall', ['mistral-drift']],
    ['mitsral', ['mistral-drift']],
    ['mixtral', ['mistral-drift']],
    ['unicode', ['mistral-drift']],
    ['multilingaul', ['llama-tide-8b']],
    ['qwen2', ['coral-coder']],
    ['secret', []],
    ['octopus', []],
  ])('a search for %s finds %j', async (q, names) => {
    expect((await list(`q=${encodeURIComponent(q)}`)).sort()).toEqual(names)
  })

  test('in order of relevance, matches in the name come before matches in the description', async () => {
    expect(await list('q=llama&sort=relevance')).toEqual(['llama-tide-8b', 'coral-coder'])
  })

  test.each([
    '"',
    "'",
    '*',
    '***',
    'AND OR NOT',
    'NEAR(llama tide)',
    'name:llama',
    '(((',
    '%',
    '\\',
    "'; drop table model; --",
    '\u0000',
    '🐟',
    'a'.repeat(1000),
    ':* & !',
    '-llama',
  ])('the query %j is valid', async (q) => {
    const { status, body } = await registry.get(`/v1/models?q=${encodeURIComponent(q)}`)
    expect(status).toBe(200)
    expect(body).toBeInstanceOf(Array)
  })

  oneNodeTest(
    'a changed model is immediately found by its new words, and no longer by the old ones',
    async () => {
      await create(ana, { name: 'renamed', description: 'plankton' })
      const { status } = await registry.call('PATCH', '/v1/models/renamed', {
        token: ana,
        body: { name: 'krill', description: 'krill', tags: ['sea'] },
      })
      expect(status).toBe(200)
      expect(await list('q=plankton')).toEqual([])
      expect(await list('q=kril')).toEqual(['krill'])
      expect(await list('tag=sea')).toEqual(['krill'])
      await registry.call('DELETE', '/v1/models/krill', { token: ana })
      expect(await list('q=kril')).toEqual([])
    },
  )

  test('a private model is invisible to others on every route', async () => {
    const { id } = await getModel('ben-secret', ben)
    for (const token of [undefined, ana.replace(/.$/, 'x') && undefined]) {
      for (const path of [`/v1/models/ben-secret`, `/v1/models/${id}`, `/v1/models/${id}/files`]) {
        expect((await registry.get(path, { token })).status).toBe(404)
      }
    }
    expect(await list('q=secret', ben)).toEqual(['ben-secret'])
    expect(await list('tag=chat&sort=created_at', ben)).toContain('ben-secret')
    const stranger = await registry.register('cleo')
    expect(await list('limit=200', stranger)).not.toContain('ben-secret')
    for (const [method, path] of [
      ['GET', '/v1/models/ben-secret'],
      ['GET', '/v1/models/ben-secret/files'],
      ['POST', '/v1/models/ben-secret/like'],
      ['DELETE', '/v1/models/ben-secret'],
      ['PATCH', '/v1/models/ben-secret'],
    ] as const) {
      const body = method === 'PATCH' ? {} : undefined
      expect((await registry.call(method, path, { token: stranger, body })).status).toBe(404)
    }
    const { body } = await registry.get('/v1/users/ben')
    expect(body).toMatchObject({ username: 'ben', models_count: 1 })
    expect((await registry.get('/v1/users/ben', { token: ben })).body).toMatchObject({
      models_count: 2,
    })
    const facets = (await registry.get('/v1/facets')).body
    expect(facets).toMatchObject({ tags: expect.arrayContaining([{ value: 'chat', count: 2 }]) })
    expect((await registry.get('/v1/stats')).body).toMatchObject({
      models: 3,
      parameter_counts: [null, 3_000_000_000, 8_000_000_000],
    })
  })

  test('only the owner and administrators can change a model', async () => {
    const byStranger = await registry.call('PATCH', '/v1/models/llama-tide-8b', {
      token: ben,
      body: { description: 'mine' },
    })
    expect(byStranger.status).toBe(403)
    const byAdmin = await registry.call('PATCH', '/v1/models/mistral-drift', {
      token: ana, // an administrator, because this was the first account
      body: { description: 'checked' },
    })
    expect(byAdmin.status).toBe(200)
    expect((await registry.call('DELETE', '/v1/models/llama-tide-8b')).status).toBe(401)
  })

  test('POST and DELETE both toggle the like, and PUT sets it', async () => {
    const like = (method: string, body?: object) =>
      registry.call(method, '/v1/models/coral-coder/like', { token: ben, body })
    for (const [method, likes] of [
      ['POST', 1],
      ['DELETE', 0],
      ['DELETE', 1],
      ['POST', 0],
    ] as const) {
      const answer = await like(method)
      expect(answer.status).toBe(204)
      expect(answer.text).toBe('')
      expect(await getModel('coral-coder', ben)).toMatchObject({ likes, liked: likes === 1 })
    }
    await like('PUT', { liked: true })
    await like('PUT', { liked: true })
    expect(await getModel('coral-coder')).toMatchObject({ likes: 1, liked: null })
    await like('PUT', { liked: false })
    expect(await getModel('coral-coder')).toMatchObject({ likes: 0 })
    expect((await registry.post('/v1/models/coral-coder/like')).status).toBe(401)
    expect((await registry.post('/v1/models/nothing/like', { token: ben })).status).toBe(404)
  })

  test('eleven concurrent toggles by one user leave one like', async () => {
    const flips = Array.from({ length: 11 }, (_, at) =>
      registry.call(at % 2 ? 'DELETE' : 'POST', '/v1/models/coral-coder/like', { token: ana }),
    )
    const statuses = (await Promise.all(flips)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([204]))
    expect(await getModel('coral-coder', ana)).toMatchObject({ likes: 1, liked: true })
  })

  test('a model is found by its ID, and by its name regardless of case', async () => {
    const { id } = await getModel('coral-coder')
    expect((await getModel(id)).name).toBe('coral-coder')
    expect((await getModel('Coral-Coder')).id).toBe(id)
  })

  test('metadata has an ETag that avoids a second transfer, and HEAD works', async () => {
    const first = await registry.get('/v1/models/coral-coder')
    const etag = first.headers.get('etag') ?? ''
    const second = await registry.get('/v1/models/coral-coder', {
      headers: { 'if-none-match': etag },
    })
    expect(second.status).toBe(304)
    expect(first.headers.get('cache-control')).toContain('private')
    expect(first.headers.get('vary')).toContain('Authorization')
    const head = await registry.call('HEAD', '/v1/models/coral-coder')
    expect(head.status).toBe(200)
    expect(head.headers.get('content-length')).toBe(first.headers.get('content-length'))
  })

  test('facts that were not set by hand are filled in from the file', async () => {
    const model = { name: 'from-a-file', context_length: 77 }
    const bytes = smallGguf(9)
    await publish(registry, ana, model, 'from-a-file-F32.gguf', bytes)
    expect(await getModel('from-a-file')).toMatchObject({
      architecture: 'llama',
      parameter_count: 64,
      context_length: 77,
      quantizations: ['F32'],
      files_count: 1,
      total_size_bytes: bytes.length,
      min_file_size_bytes: bytes.length,
    })
    expect(await list('quantization=F32')).toEqual(['from-a-file'])
    expect(await list(`max_file_size_bytes=${bytes.length}`)).toEqual(['from-a-file'])
    expect(await list(`max_file_size_bytes=${bytes.length - 1}`)).toEqual([])
    await registry.call('DELETE', '/v1/models/from-a-file', { token: ana })
  })

  test('only_if_empty deletes a model only if it is empty', async () => {
    const remove = (name: string) =>
      registry.call('DELETE', `/v1/models/${name}?only_if_empty=true`, { token: ana })
    await registry.post('/v1/models', { token: ana, body: { name: 'empty' } })
    await publish(registry, ana, { name: 'not-empty' }, 'a.gguf', smallGguf(11))
    await registry.post('/v1/models', { token: ana, body: { name: 'begun' } })
    const body = manifestFor('a.gguf', smallGguf(12))
    const begun = await registry.post('/v1/models/begun/files', { token: ana, body })
    expect((await remove('empty')).status).toBe(204)
    expect((await registry.get('/v1/models/empty')).status).toBe(404)
    for (const name of ['not-empty', 'begun']) {
      expect(await remove(name)).toMatchObject({ status: 409, body: { code: 'model_not_empty' } })
    }
    expect(await getModel('not-empty')).toMatchObject({ files_count: 1 })
    const { id } = begun.body as { id: string }
    const upload = await registry.get(`/v1/models/begun/files/${id}/upload`, { token: ana })
    expect(upload.body).toMatchObject({ missing_count: 1 })
    for (const name of ['not-empty', 'begun']) {
      await registry.call('DELETE', `/v1/models/${name}`, { token: ana })
    }
  })

  test('if an upload starts while its empty model is being deleted, either the upload or the deletion succeeds', async () => {
    const body = manifestFor('a.gguf', smallGguf(13))
    for (let round = 0; round < 10; round += 1) {
      const name = `race-${round}`
      await registry.post('/v1/models', { token: ana, body: { name } })
      const [started, removed] = await Promise.all([
        registry.post(`/v1/models/${name}/files`, { token: ana, body }),
        registry.call('DELETE', `/v1/models/${name}?only_if_empty=true`, { token: ana }),
      ])
      expect([
        [201, 409],
        [404, 204],
      ]).toContainEqual([started.status, removed.status])
      await registry.call('DELETE', `/v1/models/${name}`, { token: ana })
    }
  })

  test('setting a fact to null restores its value from the files', async () => {
    const byHand = { architecture: 'mine', parameter_count: 5, context_length: 77 }
    const change = (body: object) =>
      registry.call('PATCH', '/v1/models/given-back', { token: ana, body })
    await publish(registry, ana, { name: 'given-back', ...byHand }, 'a.gguf', smallGguf(10))
    const { body } = await change({ architecture: null, context_length: null })
    const now = { architecture: 'llama', parameter_count: 5, context_length: 4096 }
    expect(body).toMatchObject(now)
    expect(await getModel('given-back')).toMatchObject(now)
    expect(await list('q=mine')).toEqual([])
    expect(await list('q=llama')).toContain('given-back')
    expect((await change({ parameter_count: null })).body).toMatchObject({ parameter_count: 64 })
    await registry.call('DELETE', '/v1/models/given-back', { token: ana })
  })
})
