import { beforeAll, expect, test } from 'vitest'
import { describeApi, type TestRegistry } from '../testing/test-registry.ts'

const controls = ['\u0001', '\u001f', '\u007f', '\u0085', '\ufffe', '\uffff']
const ofSeveralLines = ['\n', '\t', '\u2028', '\u202e']
const blanks = ['', '   ', '\u200b\u200d', '\u00a0', '\u3164']

describeApi('text entered by users', { on: ['SQLite'] }, (start) => {
  let registry: TestRegistry
  let token: string
  const change = (body: object) => registry.call('PATCH', '/v1/models/tide', { token, body })
  const refusal = (path: string) => ({
    status: 422,
    body: { detail: expect.any(String), errors: [{ path, message: expect.any(String) }] },
  })

  beforeAll(async () => {
    registry = await start()
    token = await registry.register('ana')
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
  })

  test.each(['display_name', 'license', 'architecture'])(
    'as %s must be one visible line without control characters',
    async (field) => {
      for (const text of [...controls, ...ofSeveralLines].map((bad) => `a${bad}b`)) {
        expect.soft(await change({ [field]: text }), text).toMatchObject(refusal(`/${field}`))
        const made = await registry.post('/v1/models', {
          token,
          body: { name: 'other', [field]: text },
        })
        expect.soft(made, text).toMatchObject(refusal(`/${field}`))
      }
      for (const text of blanks) {
        expect.soft(await change({ [field]: text }), text).toMatchObject(refusal(`/${field}`))
      }
      expect(await change({ [field]: 'Ebb und Flut, 潮 🐟' })).toMatchObject({ status: 200 })
    },
  )

  test('is also checked if it is a tag, the name of an API key, an email address or a username', async () => {
    for (const text of [...[...controls, ...ofSeveralLines].map((bad) => `a${bad}b`), ...blanks]) {
      const tagged = await change({ tags: ['fine', text] })
      expect.soft(tagged, text).toMatchObject(refusal('/tags/1'))
      const key = await registry.post('/v1/api-keys', { token, body: { name: text } })
      expect.soft(key, text).toMatchObject(refusal('/name'))
      const account = { username: 'ben', password: 'long enough' }
      const email = `${text}@example.org`
      const withEmail = await registry.post('/v1/auth/register', { body: { ...account, email } })
      const isVisible = text.includes('a')
      if (isVisible) expect.soft(withEmail, text).toMatchObject(refusal('/email'))
      const named = await registry.post('/v1/auth/register', {
        body: { ...account, username: text },
      })
      expect.soft(named, text).toMatchObject(refusal('/username'))
    }
  })

  test.each(['description', 'readme'])(
    'as %s may have line breaks and tabs, but no other control characters',
    async (field) => {
      for (const text of controls.map((bad) => `a${bad}b`)) {
        expect.soft(await change({ [field]: text }), text).toMatchObject(refusal(`/${field}`))
      }
      const lines = 'one\ttab\r\nand\u2028lines'
      expect(await change({ [field]: lines })).toMatchObject({
        status: 200,
        body: { [field]: lines },
      })
    },
  )

  test('is treated as absent if it is a blank description', async () => {
    await change({ description: 'about tides' })
    expect(await change({ description: ' \n ' })).toMatchObject({ body: { description: null } })
    const call = { token, body: { name: 'blank', description: '\u200b' } }
    expect(await registry.post('/v1/models', call)).toMatchObject({ body: { description: null } })
  })

  test('gets an error that explains what is wrong', async () => {
    const { body } = await change({ display_name: 'a\u0001b' })
    const message = 'must be a single non-blank line without control characters'
    expect(body).toEqual({
      detail: `display_name ${message}`,
      errors: [{ path: '/display_name', message }],
    })
  })

  test('may contain any characters if it is a password', async () => {
    const account = { username: 'cleo', password: 'tab\tand\u0001more' }
    expect((await registry.post('/v1/auth/register', { body: account })).status).toBe(201)
    expect((await registry.post('/v1/auth/login', { body: account })).status).toBe(200)
  })
})
