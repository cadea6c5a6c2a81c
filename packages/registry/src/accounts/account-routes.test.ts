import type { ApiKey, CreatedApiKey, Session, SignedIn } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'

describeOnEachDatabase('accounts', (start) => {
  let registry: TestRegistry
  let ana: string

  const register = (body: object, headers: Record<string, string> = {}) =>
    registry.post('/v1/auth/register', { body, headers })
  const login = (username: string, password: string, headers: Record<string, string> = {}) =>
    registry.post('/v1/auth/login', { body: { username, password }, headers })
  const me = (token?: string) => registry.get('/v1/auth/me', { token })

  beforeAll(async () => {
    registry = await start()
    ana = await registry.register('ana')
  })

  test('registration starts a 30-day session', async () => {
    const { status, body } = await register({
      username: 'ben',
      password: 'password of ben',
      email: 'ben@example.org',
    })
    expect(status).toBe(201)
    const { access_token, token_type, expires_at, user }: SignedIn = body
    expect(access_token).toMatch(/^shs_[0-9A-Za-z]{43}$/)
    expect(token_type).toBe('bearer')
    const days = (Date.parse(expires_at) - Date.now()) / 86_400_000
    expect(days).toBeCloseTo(30, 1)
    expect(user).toEqual({
      id: expect.any(String),
      username: 'ben',
      email: 'ben@example.org',
      is_admin: false,
      created_at: expect.any(String),
    })
    expect((await me(access_token)).body).toEqual({
      ...user,
      role: 'user',
      usage: { stored_bytes: 0, quota_bytes: null, models_count: 0, api_keys_count: 0 },
    })
  })

  test('registering a taken username gets 409', async () => {
    const { status, body } = await register({ username: 'ana', password: 'another password' })
    expect(status).toBe(409)
    expect(body).toEqual({ detail: 'the username ana is taken', code: 'name_taken' })
  })

  test('only one of several concurrent registrations of a username succeeds', async () => {
    const racing = await Promise.all(
      Array.from({ length: 6 }, () => register({ username: 'racer', password: 'long enough' })),
    )
    expect(racing.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
  })

  test.each([
    [{ username: 'A', password: 'long enough' }],
    [{ username: 'x', password: 'long enough' }],
    [{ username: 'with space', password: 'long enough' }],
    [{ username: 'cleo', password: 'short' }],
    [{ username: 'long-as-the-password', password: 'long-as-the-password' }],
    [{ username: 'cleo' }],
    [{ username: 'cleo', password: 'long enough', email: 'none' }],
  ])('%j is refused with 422 and an error that identifies the field', async (body) => {
    const refused = await register(body)
    expect(refused.status).toBe(422)
    expect(refused.body).toMatchObject({ errors: [{ path: expect.stringMatching(/^\/\w+/) }] })
  })

  test('a wrong username and a wrong password get the same response', async () => {
    const wrongName = await login('nobody', 'password of ana')
    const wrongPassword = await login('ana', 'password of ben')
    expect([wrongName.status, wrongPassword.status]).toEqual([401, 401])
    expect(wrongName.text).toBe(wrongPassword.text)
    expect((await login('Ana', 'password of ana')).status).toBe(200)
  })

  test('logging out revokes the session', async () => {
    const { access_token }: SignedIn = (await login('ana', 'password of ana')).body
    expect((await registry.post('/v1/auth/logout', { token: access_token })).status).toBe(204)
    const { status, headers } = await me(access_token)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe('Bearer')
  })

  test.each(['', 'Bearer', 'Bearer x', 'Basic YTpi', `Bearer shs_${'a'.repeat(43)}`, 'bearer  '])(
    'the credential %j gets 401, even from routes that require no credential',
    async (authorization) => {
      for (const path of ['/v1/auth/me', '/v1/models', '/v1/stats']) {
        const { status, body } = await registry.get(path, { headers: { authorization } })
        expect(status).toBe(401)
        expect(body).toMatchObject({ detail: expect.any(String) })
      }
    },
  )

  test('a credential that is sent twice gets 401, because a proxy may have checked the other one', async () => {
    const { access_token }: SignedIn = (await login('ana', 'password of ana')).body
    const line = `Authorization: Bearer ${access_token}\r\n`
    const ask = (lines: string) =>
      rawRequest(
        registry.port,
        `GET /v1/auth/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${lines}\r\n`,
      )
    expect((await ask(line)).status).toBe(200)
    expect((await ask(line + line)).status).toBe(401)
  })

  test('changing the password ends all sessions except the current one', async () => {
    const token = await registry.register('dora')
    const { access_token: other }: SignedIn = (await login('dora', 'password of dora')).body
    const change = (current_password: string, new_password: string) =>
      registry.call('PUT', '/v1/auth/password', { token, body: { current_password, new_password } })
    expect((await change('wrong', 'a better password')).status).toBe(403)
    expect((await change('password of dora', 'short')).status).toBe(422)
    for (const _ of ['first', 'repeated']) {
      expect((await change('password of dora', 'a better password')).status).toBe(204)
    }
    expect((await me(token)).status).toBe(200)
    expect((await me(other)).status).toBe(401)
    expect((await login('dora', 'password of dora')).status).toBe(401)
    expect((await login('dora', 'a better password')).status).toBe(200)
  })

  test('sessions are listed, with the current one marked, and can be ended individually', async () => {
    const token = await registry.register('emil')
    await login('emil', 'password of emil', { 'user-agent': 'shoal/1 laptop' })
    const { body: sessions }: { body: Session[] } = await registry.get('/v1/auth/sessions', {
      token,
    })
    expect(sessions.map(({ current }) => current)).toEqual([false, true])
    expect(sessions[0]?.user_agent).toBe('shoal/1 laptop')
    const path = `/v1/auth/sessions/${sessions[0]?.id}`
    expect((await registry.call('DELETE', path, { token: ana })).status).toBe(404)
    expect((await registry.call('DELETE', path, { token })).status).toBe(204)
    const { body: left }: { body: Session[] } = await registry.get('/v1/auth/sessions', { token })
    expect(left).toHaveLength(1)
  })

  test('an API key is shown once, works as a Bearer token, and is invalid as soon as it is revoked', async () => {
    const { status, body }: { status: number; body: CreatedApiKey } = await registry.post(
      '/v1/api-keys',
      { token: ana, body: { name: 'laptop' } },
    )
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'laptop', scopes: ['read', 'write'], expires_at: null })
    expect(body.key).toMatch(/^hf_[A-Za-z0-9]{43}$/)
    expect(body.key.startsWith(body.prefix)).toBe(true)
    expect((await me(body.key)).body).toMatchObject({ username: 'ana' })

    const listed = await registry.get('/v1/api-keys', { token: ana })
    expect(listed.text).not.toContain(body.key)
    const [key]: ApiKey[] = listed.body
    expect(key).toMatchObject({ id: body.id, last_used_at: expect.any(String) })
    expect((await registry.call('DELETE', `/v1/api-keys/${body.id}`, { token: ana })).status).toBe(
      204,
    )
    expect((await me(body.key)).status).toBe(401)
  })

  test('only a session can manage API keys, and a key never has more rights than its owner', async () => {
    const ben = await registry.register('kim')
    const make = (token: string, body: object) => registry.post('/v1/api-keys', { token, body })
    expect((await make(ben, { name: 'x', scopes: ['admin'] })).status).toBe(403)
    const past = '2020-01-01T00:00:00.000Z'
    expect((await make(ben, { name: 'x', expires_at: past })).status).toBe(422)
    expect((await make(ben, { name: 'x', scopes: ['everything'] })).status).toBe(422)
    const { key }: CreatedApiKey = (await make(ben, { name: 'x' })).body
    expect((await make(key, { name: 'y' })).status).toBe(403)
    expect((await registry.get('/v1/api-keys', { token: key })).status).toBe(403)
  })

  test('a key without the scope "write" cannot write, and one without "read" cannot read private models', async () => {
    const token = await registry.register('lea')
    await registry.post('/v1/models', { token, body: { name: 'leas', is_public: false } })
    const make = async (scopes: string[]): Promise<string> => {
      const { body } = await registry.post('/v1/api-keys', { token, body: { name: 'x', scopes } })
      return (body as CreatedApiKey).key
    }
    const read = await make(['read'])
    const write = await make(['write'])
    const create = (key: string, name: string) =>
      registry.post('/v1/models', { token: key, body: { name } })
    expect((await registry.get('/v1/models/leas', { token: read })).status).toBe(200)
    expect((await create(read, 'by-read')).status).toBe(403)
    expect((await registry.post('/v1/models/leas/like', { token: read })).status).toBe(403)
    expect((await registry.get('/v1/models/leas', { token: write })).status).toBe(404)
    expect((await create(write, 'by-write')).status).toBe(201)
    const update = (key: string, body: object) =>
      registry.call('PATCH', '/v1/models/leas', { token: key, body })
    const changed = await update(write, { description: 'by-write' })
    expect([changed.status, changed.text]).toEqual([204, ''])
    expect((await update(token, {})).body).toMatchObject({ description: 'by-write' })
  })

  test('an expired API key gets 401', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const { body }: { body: CreatedApiKey } = await registry.post('/v1/api-keys', {
      token: ana,
      body: { name: 'brief', expires_at },
    })
    expect((await me(body.key)).status).toBe(200)
    const { db } = await registry.connect()
    const past = { expires_at: new Date(Date.now() - 1).toISOString() }
    await db.updateTable('api_key').set(past).where('id', '=', body.id).execute()
    expect((await me(body.key)).status).toBe(401)
  })

  test("the registry's own pages get a session cookie, which other origins cannot use to make changes", async () => {
    const origin = registry.url
    const elsewhere = await login('ana', 'password of ana', { origin: 'https://elsewhere.example' })
    expect(elsewhere.headers.get('set-cookie')).toBeNull()
    const { headers } = await login('ana', 'password of ana', { origin })
    const set = headers.get('set-cookie') ?? ''
    expect(set).toContain('HttpOnly')
    expect(set).toContain('SameSite=Strict')
    const cookie = set.split(';')[0] ?? ''
    expect((await registry.get('/v1/auth/me', { headers: { cookie } })).status).toBe(200)
    const create = (extra: Record<string, string>, name: string) =>
      registry.post('/v1/models', { body: { name }, headers: { cookie, ...extra } })
    expect((await create({}, 'no-origin')).status).toBe(403)
    expect((await create({ origin: 'null' }, 'null-origin')).status).toBe(403)
    expect((await create({ origin: 'https://elsewhere.example' }, 'other')).status).toBe(403)
    expect((await create({ origin }, 'own-origin')).status).toBe(201)
    const stale = { cookie: `shoal_session=shs_${'b'.repeat(43)}` }
    expect((await registry.get('/v1/models', { headers: stale })).status).toBe(200)
    expect((await registry.get('/v1/auth/me', { headers: stale })).status).toBe(401)
  })

  test('the system account can publish models but cannot sign in', async () => {
    const token = await registry.systemToken()
    expect((await me(token)).body).toMatchObject({ username: 'shoal', is_admin: false })
    expect((await login('shoal', '')).status).toBe(401)
    expect((await register({ username: 'shoal', password: 'long enough' })).status).toBe(409)
  })

  test('a user profile is public, and an unknown username gets 404', async () => {
    const { status } = await registry.get('/v1/users/ana')
    expect(status).toBe(200)
    expect((await registry.get('/v1/users/nobody')).status).toBe(404)
  })
})

describeOnEachDatabase('the first account', (start) => {
  test('is created by exactly one of several concurrent registrations, even if the system account exists', async () => {
    const registry = await start()
    await registry.systemToken()
    const racing = await Promise.all(
      Array.from({ length: 5 }, (_, at) =>
        registry.post('/v1/auth/register', {
          body: { username: `racer${at}`, password: 'long enough' },
        }),
      ),
    )
    const administrators = racing.filter(({ body }) => (body as SignedIn).user.is_admin)
    expect(administrators).toHaveLength(1)
  })

  test('requires the printed setup code if the base URL is not a loopback address; later accounts do not', async () => {
    const registry = await start({ baseUrl: 'https://models.example.org' })
    const register = (username: string, setup_code?: string) =>
      registry.post('/v1/auth/register', {
        body: { username, password: 'long enough', ...(setup_code && { setup_code }) },
      })
    expect(registry.setupCode).toMatch(/^[0-9a-f]{12}$/)
    const without = await register('ana')
    expect(without.status).toBe(403)
    expect(without.body).toMatchObject({ code: 'setup_code_required' })
    expect((await register('ana', 'wrong')).status).toBe(403)
    const { status, body } = await register('ana', registry.setupCode)
    expect(status).toBe(201)
    expect(body).toMatchObject({ user: { is_admin: true } })
    expect((await register('ben')).body).toMatchObject({ user: { is_admin: false } })
    await registry.restart()
    expect(registry.setupCode).toBeUndefined()
  })

  test('cannot be created through a proxy on this machine if the registry has no setup code', async () => {
    const registry = await start()
    const register = (username: string, headers = {}) =>
      registry.post('/v1/auth/register', { body: { username, password: 'long enough' }, headers })
    const proxied = { 'x-forwarded-for': '203.0.113.5' }
    const refused = await register('eve', proxied)
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({ code: 'setup_code_required' })
    expect((await register('ana')).body).toMatchObject({ user: { is_admin: true } })
    expect((await register('eve', proxied)).body).toMatchObject({ user: { is_admin: false } })
  })

  test('has the same setup code on every node and after every restart until the code is used', async () => {
    const baseUrl = 'https://models.example.org'
    const registry = await start({ baseUrl })
    const code = registry.setupCode
    await registry.restart()
    expect(registry.setupCode).toBe(code)
    const { databaseUrl } = registry.config
    const node = databaseUrl ? await start({ baseUrl, databaseUrl }) : registry // with SQLite, there is only one node
    expect(node.setupCode).toBe(code)

    const body = { username: 'ana', password: 'long enough', setup_code: code }
    expect((await node.post('/v1/auth/register', { body })).status).toBe(201)
    const { db } = await registry.connect()
    const kept = db.selectFrom('secret').select('name').where('name', '=', 'setup-code')
    expect(await kept.execute()).toEqual([])
  })

  test('is the only one that can be created if registration is closed', async () => {
    const registry = await start({ isRegistrationOpen: false })
    const register = (username: string) =>
      registry.post('/v1/auth/register', { body: { username, password: 'long enough' } })
    const settings = async () => (await registry.get('/v1/registry')).body
    expect(await settings()).toEqual({ registration_open: true })
    expect((await register('ana')).status).toBe(201)
    expect(await settings()).toEqual({ registration_open: false })
    const refused = await register('ben')
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({ code: 'registration_closed' })
  })

  test('is created by only one of several concurrent requests if registration is closed', async () => {
    const registry = await start({ isRegistrationOpen: false })
    const racing = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        registry.post('/v1/auth/register', {
          body: { username: `racer${at}`, password: 'long enough' },
        }),
      ),
    )
    expect(racing.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403, 403])
    const refused = racing.filter(({ status }) => status === 403)
    for (const { body } of refused) expect(body).toMatchObject({ code: 'registration_closed' })
    const { db } = await registry.connect()
    const accounts = await db.selectFrom('account').select('is_admin').execute()
    expect(accounts).toEqual([{ is_admin: 1 }])
  })

  test('can still be created if registration is closed and an earlier attempt was refused', async () => {
    const registry = await start({ isRegistrationOpen: false })
    await registry.systemToken()
    const register = (username: string) =>
      registry.post('/v1/auth/register', { body: { username, password: 'long enough' } })
    expect((await register('shoal')).status).toBe(409)
    expect((await register('ana')).body).toMatchObject({ user: { is_admin: true } })
    expect((await register('ben')).status).toBe(403)
  })
})
