import type { AuditEntry, Model, ModelFile, ModelRecord } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { getCard } from '../testing/get-card.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'
import { maxFormerNames } from './former-names.ts'

describeOnEachDatabase('the former name of a renamed model', (start) => {
  let registry: TestRegistry
  let admin: string
  let ana: string
  let ben: string

  const create = (name: string, token = ana, more: object = {}) =>
    registry.post('/v1/models', { token, body: { name, ...more } })
  const change = (name: string, body: object, token = ana) =>
    registry.call('PATCH', `/v1/models/${name}`, { token, body })
  const read = async (name: string, token?: string) => {
    const { status, body } = await registry.get(`/v1/models/${name}`, { token })
    return status === 200 ? (body as ModelRecord).name : status
  }

  beforeAll(async () => {
    registry = await start()
    admin = await registry.register('admin')
    ana = await registry.register('ana')
    ben = await registry.register('ben')
  })

  test('still finds the model, its files and its card, for anyone who can see the model', async () => {
    const file = await publish(
      registry,
      ana,
      { name: 'tide', readme: 'A tide.' },
      'a.gguf',
      smallGguf(1),
    )
    expect(await read('tide')).toBe('tide') // in the cache from now on
    expect((await change('tide', { name: 'reef' })).status).toBe(200)
    expect((await change('reef', { name: 'atoll' })).status).toBe(200)
    for (const name of ['tide', 'TIDE', 'reef', 'atoll']) {
      expect([name, await read(name)]).toEqual([name, 'atoll'])
      const { body: files }: { body: ModelFile[] } = await registry.get(`/v1/models/${name}/files`)
      expect(files.map(({ id }) => id)).toEqual([file.id])
      expect((await getCard(registry, `/v1/models/${name}/card`)).text).toContain('A tide.')
      expect((await registry.get(`/v1/files/${name}/download/${file.id}`)).status).toBe(200)
    }
    // A node that counts downloads notifies the other nodes a moment later. Until then, these may send a cached list.
    const list = async () => (await registry.get('/v1/models?owner=ana')).body as Model[]
    await expect.poll(list).toMatchObject([{ name: 'atoll', downloads: 4 }])
  })

  test('is no longer its title, unless the title is another text', async () => {
    const rename = async (from: string, body: object) =>
      ((await change(from, body)).body as ModelRecord).display_name
    await create('untitled')
    expect(await rename('untitled', { name: 'bare', display_name: 'untitled' })).toBe('bare')
    expect(await rename('bare', { name: 'barer' })).toBe('barer')
    expect(await rename('barer', { name: 'titled', display_name: 'A Title' })).toBe('A Title')
    expect(await rename('titled', { name: 'still-titled' })).toBe('A Title')
  })

  test('cannot be used for changes: the error names the model', async () => {
    await create('old')
    await change('old', { name: 'new' })
    const refused = await Promise.all([
      change('old', { description: 'x' }),
      change('old', { description: 'x' }, ben), // ben may not change the model under any name
      registry.call('DELETE', '/v1/models/old', { token: ana }),
      registry.post('/v1/models/old/like', { token: ben }),
      registry.call('PUT', '/v1/models/old/like', { token: ben, body: { liked: true } }),
      registry.call('PUT', '/v1/models/old/members/ben', { token: ana, body: { right: 'read' } }),
      registry.call('DELETE', '/v1/models/old/members/ben', { token: ben }),
      registry.call('PUT', '/v1/models/old/owner', { token: admin, body: { username: 'ben' } }),
      registry.call('DELETE', '/v1/models/old/files/0198d9f2-1111-7222-8333-444455556666', {
        token: ana,
      }),
    ])
    const error = { detail: 'the model old was renamed to new', code: 'model_renamed' }
    expect(refused.map(({ status, body }) => [status, body])).toEqual(
      refused.map(() => [404, error]),
    )
    expect(await read('new')).toBe('new')
  })

  test('belongs to the model that takes it, even after that model was deleted or renamed', async () => {
    await create('first')
    await change('first', { name: 'second' })
    expect((await create('first', ben)).status).toBe(201)
    expect(await read('first')).toBe('first')
    expect((await registry.call('DELETE', '/v1/models/first', { token: ben })).status).toBe(204)
    expect(await read('first')).toBe(404)
    expect(await read('second')).toBe('second')

    await change('second', { name: 'third' })
    await create('other', ben)
    expect((await change('other', { name: 'second' }, ben)).status).toBe(200)
    expect([await read('second'), await read('other')]).toEqual(['second', 'second'])
    await change('third', { name: 'other' })
    await change('other', { name: 'third' })
    expect([await read('third'), await read('other')]).toEqual(['third', 'third'])
  })

  test('of a private model is found only by those who can see the model', async () => {
    await create('hidden', ana, { is_public: false })
    await change('hidden', { name: 'hidden-now' })
    expect([await read('hidden', ana), await read('hidden', admin)]).toEqual([
      'hidden-now',
      'hidden-now',
    ])
    const unknown = (name: string) => ({ detail: `no model ${name}`, code: 'model_unknown' })
    for (const token of [undefined, ben]) {
      expect((await registry.get('/v1/models/hidden', { token })).body).toEqual(unknown('hidden'))
    }
    const removed = await registry.call('DELETE', '/v1/models/hidden', { token: ben })
    expect([removed.status, removed.body]).toEqual([404, unknown('hidden')])
    expect((await create('hidden', ben)).status).toBe(201)
    expect(await read('hidden', ana)).toBe('hidden')
  })

  test('is deleted with the model', async () => {
    await create('short')
    await change('short', { name: 'shorter' })
    await registry.call('DELETE', '/v1/models/shorter', { token: ana })
    expect(await read('short')).toBe(404)
  })

  test('is recorded in the audit log', async () => {
    await create('before')
    await change('before', { name: 'after' })
    await change('after', { name: 'after', description: 'not renamed' })
    const { body }: { body: AuditEntry[] } = await registry.get('/v1/admin/audit?limit=1', {
      token: admin,
    })
    expect(body).toMatchObject([
      { action: 'model.renamed', actor: 'ana', subject: 'before', detail: { to: 'after' } },
    ])
  })

  test('is dropped after the model has been renamed many more times', async () => {
    await create('name-0')
    for (let at = 0; at <= maxFormerNames; at += 1) {
      expect((await change(`name-${at}`, { name: `name-${at + 1}` })).status).toBe(200)
    }
    expect(await read('name-0')).toBe(404)
    expect(await read('name-1')).toBe(`name-${maxFormerNames + 1}`)
  })

  test('is taken by exactly one of several models that are created or renamed at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [from, to] = [`from-${round}`, `to-${round}`]
      await Promise.all([create(from), create(`x-${round}`), create(`y-${round}`, ben)])
      const answers = await Promise.all([
        change(from, { name: to }),
        create(from, ben),
        change(`x-${round}`, { name: from }),
        change(`y-${round}`, { name: from }, ben),
      ])
      expect(answers.filter(({ status }) => status >= 500)).toEqual([])
      const isTaken = answers.slice(1).some(({ status }) => status < 300)
      expect(await read(from)).toBe(isTaken ? from : to)
      expect(await read(to)).toBe(to)
    }
  })
})
