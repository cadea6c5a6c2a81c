import { once } from 'node:events'
import { request } from 'node:http'
import type {
  AdminUser,
  ApiKey,
  AuditEntry,
  CreatedApiKey,
  CreatedInvitation,
  CreatedUser,
  Download,
  Invitation,
  Me,
} from '@shoal/protocol'
import { beforeEach, describe, expect, test } from 'vitest'
import { publish, smallGguf } from '../testing/publish.ts'
import { describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'

const password = 'a long password'
const privateTide = { name: 'tide', is_public: false }

describeOnEachDatabase('the administration of accounts', (start) => {
  let registry: TestRegistry
  let admin: string

  beforeEach(async () => {
    registry = await start({ isRegistrationOpen: false, quotaBytes: 10_000_000 })
    admin = await registry.register('ana') // the first account is an administrator
  })

  const get = async <T>(path: string, token = admin) => {
    const { status, body } = await registry.get(path, { token })
    expect(status).toBe(200)
    return body as T
  }
  const change = (username: string, body: object, token = admin) =>
    registry.call('PATCH', `/v1/admin/users/${username}`, { token, body })
  const signIn = (username: string, secret: string) =>
    registry.post('/v1/auth/login', { body: { username, password: secret } })
  const statusOf = async (token: string) => (await registry.get('/v1/auth/me', { token })).status

  /** Creates an account and returns its session's token. */
  async function add(username: string, role = 'user'): Promise<string> {
    const created = await registry.post('/v1/admin/users', {
      token: admin,
      body: { username, role },
    })
    expect(created.status).toBe(201)
    const signedIn = await signIn(username, (created.body as CreatedUser).password)
    return (signedIn.body as { access_token: string }).access_token
  }

  async function makeKey(token: string, scopes = ['read', 'write']): Promise<CreatedApiKey> {
    const made = await registry.post('/v1/api-keys', { token, body: { name: 'laptop', scopes } })
    expect(made.status).toBe(201)
    return made.body as CreatedApiKey
  }

  async function audit(query = ''): Promise<string[]> {
    const entries = await get<AuditEntry[]>(`/v1/admin/audit${query}`)
    return entries.map(({ actor, action, subject }) => `${actor} ${action} ${subject}`)
  }

  test('only administrators may use it, and an API key needs the scope admin', async () => {
    const ben = await add('ben')
    const [withScope, without] = [
      await makeKey(admin, ['read', 'admin']),
      await makeKey(admin, ['read', 'write']),
    ]
    const paths = ['/v1/admin/users', '/v1/admin/invitations', '/v1/admin/audit']
    for (const path of paths) {
      expect((await registry.get(path)).status).toBe(401)
      expect((await registry.get(path, { token: ben })).status).toBe(403)
      expect((await registry.get(path, { token: without.key })).status).toBe(403)
      const allowed = await registry.get(path, { token: withScope.key })
      expect(allowed.status).toBe(200)
      expect(allowed.headers.get('cache-control')).toBe('no-store')
    }
    expect((await change('ana', { role: 'user' }, ben)).status).toBe(403)
  })

  test('accounts are listed with their usage', async () => {
    const ben = await add('ben')
    const bytes = smallGguf(1)
    await publish(registry, ben, { name: 'tide' }, 'tide.gguf', bytes)
    await makeKey(ben)
    const users = await get<AdminUser[]>('/v1/admin/users')
    expect(users.map(({ username, role }) => [username, role])).toEqual([
      ['ana', 'admin'],
      ['ben', 'user'],
    ])
    expect(users[1]).toMatchObject({
      ...{ disabled_at: null, own_quota_bytes: null, sessions_count: 1 },
      last_used_at: expect.any(String),
      usage: {
        stored_bytes: bytes.length,
        quota_bytes: 10_000_000,
        models_count: 1,
        api_keys_count: 1,
      },
    })
    const me = await get<Me>('/v1/auth/me', ben)
    expect(me).toMatchObject({ username: 'ben', role: 'user', usage: users[1]?.usage })
    expect((await registry.get('/v1/admin/users/nobody', { token: admin })).status).toBe(404)
  })

  test('an account gets a random password, and its username must be free', async () => {
    await add('ben')
    for (const username of ['ben', 'shoal']) {
      const taken = await registry.post('/v1/admin/users', { token: admin, body: { username } })
      expect(taken.status).toBe(409)
    }
    expect(await audit('?subject=ben')).toEqual([
      'ben account.signed_in ben',
      'ana account.created ben',
    ])
  })

  test('a disabled account can neither sign in nor use its sessions, keys and links', async () => {
    const ben = await add('ben')
    const { key } = await makeKey(ben)
    await publish(registry, ben, privateTide, 'tide.gguf', smallGguf(2))
    const [file] = await get<{ id: string }[]>('/v1/models/tide/files', ben)
    const download = await get<Download>(`/v1/files/tide/download/${file?.id}`, ben)
    const link = new URL(download.torrent_url ?? '').pathname
    expect((await registry.get(link)).status).toBe(200)

    expect((await change('ben', { is_disabled: true })).body).toMatchObject({
      disabled_at: expect.any(String),
      sessions_count: 0,
    })
    for (const token of [ben, key]) expect(await statusOf(token)).toBe(401)
    expect((await registry.get(link)).status).toBe(404)
    const reset = await registry.post('/v1/admin/users/ben/reset-password', { token: admin })
    const secret = (reset.body as { password: string }).password
    expect(await signIn('ben', secret)).toMatchObject({
      status: 401,
      body: { code: 'account_disabled' },
    })
    expect((await signIn('ben', 'wrong password')).body).not.toHaveProperty('code')

    expect((await change('ben', { is_disabled: false })).body).toMatchObject({ disabled_at: null })
    expect((await signIn('ben', secret)).status).toBe(200)
  })

  test('a request whose body arrives after its account was disabled is refused', async () => {
    const evil = await add('evil', 'admin')
    for (const [method, path, body] of [
      ['PATCH', '/v1/admin/users/evil', '{"is_disabled":false}'],
      ['POST', '/v1/admin/users', '{"username":"back-door","role":"admin"}'],
      ['POST', '/v1/models', '{"name":"tide"}'],
    ] as const) {
      const slow = slowRequest(registry.port, { method, path, token: evil, length: body.length })
      await slow.isReceived
      await change('evil', { is_disabled: true })
      expect(await slow.finish(body)).toBe(401)
      await change('evil', { is_disabled: false })
      expect(await statusOf(evil)).toBe(401) // its session has ended
    }
  })

  test('a removed account is not revived by a password change that was in progress', async () => {
    const ben = await add('ben')
    const reset = await registry.post('/v1/admin/users/ben/reset-password', { token: admin })
    const { body } = await signIn('ben', (reset.body as { password: string }).password)
    const token = (body as { access_token: string }).access_token
    expect(await statusOf(ben)).toBe(401)
    const changing = registry.call('PUT', '/v1/auth/password', {
      token,
      body: {
        current_password: (reset.body as { password: string }).password,
        new_password: 'another long password',
      },
    })
    const removing = registry.call('DELETE', '/v1/admin/users/ben', { token: admin })
    await Promise.all([changing, removing])
    expect((await signIn('ben', 'another long password')).status).toBe(401)
  })

  test('an API key works again after its account is enabled', async () => {
    const ben = await add('ben')
    const { key } = await makeKey(ben)
    await change('ben', { is_disabled: true })
    await change('ben', { is_disabled: false })
    expect([await statusOf(ben), await statusOf(key)]).toEqual([401, 200])
  })

  describe('the last active administrator', () => {
    const refused = { status: 409, body: { code: 'last_admin' } }

    test('cannot be demoted, disabled or removed', async () => {
      await add('ben')
      expect(await change('ana', { role: 'user' })).toMatchObject(refused)
      expect(await change('ana', { is_disabled: true })).toMatchObject(refused)
      const removal = await registry.call('DELETE', '/v1/admin/users/ana', { token: admin })
      expect(removal).toMatchObject(refused)
      expect(await statusOf(admin)).toBe(200)
      await add('cleo', 'admin')
      await change('cleo', { is_disabled: true })
      expect(await change('ana', { role: 'user' })).toMatchObject(refused)
    })

    test('remains even if two administrators demote each other at the same time', async () => {
      const ben = await add('ben', 'admin')
      const answers = await Promise.all([
        change('ben', { role: 'user' }, admin),
        change('ana', { role: 'user' }, ben),
      ])
      const users = await get<AdminUser[]>('/v1/admin/users', await anyAdmin([admin, ben]))
      expect(users.filter(({ role }) => role === 'admin')).toHaveLength(1)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    })

    async function anyAdmin(tokens: string[]): Promise<string> {
      for (const token of tokens) {
        if ((await registry.get('/v1/admin/users', { token })).status === 200) return token
      }
      throw new Error('nobody is an administrator')
    }
  })

  test("an account's own quota replaces the default", async () => {
    const ben = await add('ben')
    const upload = (seed: number) =>
      publish(registry, ben, { name: `tide-${seed}` }, 'tide.gguf', smallGguf(seed, 20_000))
    await change('ben', { own_quota_bytes: 50_000 })
    await expect(upload(1)).rejects.toThrow()
    await change('ben', { own_quota_bytes: 150_000 })
    await upload(2)
    await change('ben', { own_quota_bytes: null })
    expect((await get<AdminUser>('/v1/admin/users/ben')).usage.quota_bytes).toBe(10_000_000)
    const changes = await get<AuditEntry[]>('/v1/admin/audit?action=account.quota_changed')
    expect(changes.map(({ detail }) => detail)).toEqual([
      { from_bytes: 150_000, to_bytes: null },
      { from_bytes: 50_000, to_bytes: 150_000 },
      { from_bytes: null, to_bytes: 50_000 },
    ])
    expect((await change('ben', {})).status).toBe(422)
  })

  describe('an account that owns models', () => {
    let ben: string

    beforeEach(async () => {
      ben = await add('ben')
      await publish(registry, ben, privateTide, 'tide.gguf', smallGguf(3))
    })

    const remove = (query = '') =>
      registry.call('DELETE', `/v1/admin/users/ben${query}`, { token: admin })

    test('is not removed unless its models are to be given away or deleted', async () => {
      expect(await remove()).toMatchObject({ status: 409, body: { code: 'owns_models' } })
      expect((await remove('?give_to=nobody')).status).toBe(404)
      expect((await remove('?give_to=ben')).status).toBe(409)
      expect((await remove('?give_to=ana&delete_models=true')).status).toBe(422)
      expect(await statusOf(ben)).toBe(200)
    })

    test('is removed after its models were given to another account', async () => {
      const cleo = await add('cleo')
      expect((await registry.get('/v1/models/tide', { token: cleo })).status).toBe(404)
      expect((await remove('?give_to=cleo')).status).toBe(204)
      expect(await get('/v1/models/tide', cleo)).toMatchObject({ owner: 'cleo', is_public: false })
      expect(await statusOf(ben)).toBe(401)
      expect((await registry.get('/v1/users/ben')).status).toBe(404)
      expect((await remove()).status).toBe(404)
      const again = await registry.post('/v1/admin/users', {
        token: admin,
        body: { username: 'ben' },
      })
      expect(again.status).toBe(409)
      expect(await audit('?limit=2')).toEqual([
        'ana account.removed ben',
        'ana model.owner_changed tide',
      ])
    })

    test('is removed after its models were deleted', async () => {
      expect((await remove('?delete_models=true')).status).toBe(204)
      expect((await registry.get('/v1/models/tide', { token: admin })).status).toBe(404)
      expect(await audit('?limit=2')).toEqual(['ana account.removed ben', 'ana model.deleted tide'])
    })
  })

  test("an administrator lists and revokes an account's API keys", async () => {
    const ben = await add('ben')
    const { key, id } = await makeKey(ben)
    const keys = await get<ApiKey[]>('/v1/admin/users/ben/api-keys')
    expect(keys).toMatchObject([{ id, name: 'laptop' }])
    expect(JSON.stringify(keys)).not.toContain(key)
    const path = `/v1/admin/users/ben/api-keys/${id}`
    expect((await registry.call('DELETE', path, { token: admin })).status).toBe(204)
    expect(await statusOf(key)).toBe(401)
    expect((await registry.call('DELETE', path, { token: admin })).status).toBe(404)
  })

  describe('an invitation', () => {
    const invite = async (body: object = {}) => {
      const created = await registry.post('/v1/admin/invitations', { token: admin, body })
      expect(created.status).toBe(201)
      return created.body as CreatedInvitation
    }
    const register = (username: string, invitation?: string) =>
      registry.post('/v1/auth/register', { body: { username, password, invitation } })
    const invalid = { status: 403, body: { code: 'invitation_invalid' } }

    test('permits one registration even if registration is closed', async () => {
      expect((await register('ben')).status).toBe(403)
      const { token, url, id } = await invite({ note: 'Ben from the lab' })
      expect(url).toContain(`/register#invitation=${token}`)
      expect((await register('ben', token)).status).toBe(201)
      expect(await register('cleo', token)).toMatchObject(invalid)
      expect(await register('cleo', `${token}x`)).toMatchObject(invalid)
      const [listed] = await get<Invitation[]>('/v1/admin/invitations')
      expect(listed).toMatchObject({ id, note: 'Ben from the lab', used_by: 'ben' })
      expect(JSON.stringify(listed)).not.toContain(token)
      const [, created] = await get<AuditEntry[]>('/v1/admin/audit?actor=ben')
      expect(created).toMatchObject({ action: 'account.created', credential: `invitation ${id}` })
    })

    test('is used by only one of several registrations at the same time', async () => {
      const { token } = await invite()
      const names = ['ben', 'cleo', 'dan']
      const answers = await Promise.all(names.map((name) => register(name, token)))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403])
    })

    test('is not used up if the username is taken', async () => {
      const { token } = await invite()
      expect((await register('ana', token)).status).toBe(409)
      expect((await register('ben', token)).status).toBe(201)
    })

    test('becomes invalid if the administrator who created it is demoted', async () => {
      const cleo = await add('cleo', 'admin')
      const created = await registry.post('/v1/admin/invitations', {
        token: cleo,
        body: { role: 'admin' },
      })
      const { token } = created.body as CreatedInvitation
      await change('cleo', { role: 'user' })
      expect(await register('ben', token)).toMatchObject(invalid)
    })

    test('can make the new account an administrator', async () => {
      const { token } = await invite({ role: 'admin' })
      const { body } = await register('ben', token)
      const ben = (body as { access_token: string }).access_token
      expect(await get<AdminUser[]>('/v1/admin/users', ben)).toHaveLength(2)
    })

    test('can be revoked unless it was used', async () => {
      const [first, second] = [await invite(), await invite()]
      const revoke = (id: string) =>
        registry.call('DELETE', `/v1/admin/invitations/${id}`, { token: admin })
      expect((await revoke(first.id)).status).toBe(204)
      expect(await register('ben', first.token)).toMatchObject(invalid)
      await register('ben', second.token)
      expect((await revoke(second.id)).status).toBe(409)
      expect((await revoke(first.id)).status).toBe(404)
    })

    test('expires after seven days', async () => {
      const { token, expires_at, created_at } = await invite()
      expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(7 * 86_400_000)
      const { db } = await registry.connect()
      await db.updateTable('invitation').set({ expires_at: new Date().toISOString() }).execute()
      expect(await register('ben', token)).toMatchObject(invalid)
    })
  })

  describe('the audit log', () => {
    test('records sign-ins, keys, visibility and deletions, with the credential and the address', async () => {
      const { id, key } = await makeKey(admin)
      await publish(registry, key, { name: 'tide' }, 'tide.gguf', smallGguf(4))
      await registry.call('PATCH', '/v1/models/tide', { token: key, body: { is_public: false } })
      const [file] = await get<{ id: string }[]>('/v1/models/tide/files')
      await registry.call('DELETE', `/v1/models/tide/files/${file?.id}`, { token: key })
      await registry.call('DELETE', '/v1/models/tide', { token: key })
      await registry.call('DELETE', `/v1/api-keys/${id}`, { token: admin })
      const entries = await get<AuditEntry[]>('/v1/admin/audit?limit=7')
      expect(entries.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
        'key.revoked ana',
        'model.deleted tide',
        'file.deleted tide/tide.gguf',
        'model.visibility_changed tide',
        'key.created ana',
        'account.signed_in ana',
        'account.created ana',
      ])
      expect(entries[1]).toMatchObject({
        ...{ actor: 'ana', credential: `key ${id}` },
        address: expect.stringMatching(/^[\da-f.:]+$/),
      })
      expect(JSON.stringify(entries)).not.toContain(key)
    })

    test('can be read page by page, in both directions', async () => {
      for (let count = 0; count < 3; count += 1) await makeKey(admin)
      const all = await get<AuditEntry[]>('/v1/admin/audit')
      const numbers = all.map(({ seq }) => seq)
      expect(numbers).toEqual(numbers.toSorted((a, b) => b - a))
      const page = async (query: string) =>
        (await get<AuditEntry[]>(`/v1/admin/audit?limit=2&${query}`)).map(({ seq }) => seq)
      expect(await page(`before=${numbers[1]}`)).toEqual(numbers.slice(2, 4))
      expect(await page('after=0')).toEqual(numbers.toReversed().slice(0, 2))
    })

    test('cannot be changed, even with SQL', async () => {
      const { db } = await registry.connect()
      await expect(db.updateTable('audit').set({ actor: 'ben' }).execute()).rejects.toThrow('audit')
      await expect(db.deleteFrom('audit').execute()).rejects.toThrow('audit')
      expect(await audit()).toContain('ana account.created ana')
    })

    test('has no entry for a change that failed', async () => {
      const before = await audit()
      await change('ana', { role: 'user' })
      await registry.call('DELETE', '/v1/admin/users/ana', { token: admin })
      expect(await audit()).toEqual(before)
    })
  })
})

/** Sends the head of a request, and its body only when `finish` is called. `finish` returns the status. */
function slowRequest(
  port: number,
  { method, path, token, length }: { method: string; path: string; token: string; length: number },
) {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': length,
    expect: '100-continue', // Node responds to this when it has read the head
  }
  const sent = request({ host: '127.0.0.1', port, method, path, headers })
  sent.flushHeaders()
  const status = new Promise<number>((resolve, reject) => {
    sent.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
  })
  return {
    isReceived: once(sent, 'continue'),
    finish(body: string) {
      sent.end(body)
      return status
    },
  }
}
