import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeHome } from '../testing/run-shoal.ts'
import { sampleUser } from '../testing/samples.ts'
import {
  type AskedFor,
  type ScriptedAnswer,
  scriptedRegistry,
} from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

const signedIn = {
  access_token: `shs_${'x'.repeat(43)}`,
  token_type: 'bearer',
  expires_at: '2026-03-02T12:00:00.000Z',
  user: sampleUser,
}

test('login saves the token in a file that only the user can read', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'POST /v1/auth/login': { body: signedIn },
    'GET /v1/auth/me': { body: sampleUser },
  })
  const options = { home: home.path, registry: registry.address }
  const { stdout, stderr, exitCode } = await shoalHere(
    ['login', '--username', 'ines', '--password-stdin'],
    { ...options, input: 'open sesame\n' },
  )
  expect(stdout).toBe('')
  expect(stderr).toBe(
    `✓ Signed in to ${registry.label} as ines.\n` +
      '  While you pull or serve, peers with the same models can see your IP address.\n' +
      '  To hide your IP address: shoal config set peers off\n',
  )
  expect(exitCode).toBe(0)
  expect(registry.asked[0]?.body).toEqual({ username: 'ines', password: 'open sesame' })
  const path = join(home.path, 'config', 'credentials.json')
  expect((await stat(path)).mode & 0o777).toBe(0o600)

  const whoami = await shoalHere(['whoami'], options)
  expect(whoami.stdout).toBe('ines\n')
  expect(registry.asked[1]?.authorization).toBe(`Bearer ${signedIn.access_token}`)
})

test('a failed login does not reveal whether the username or the password was wrong', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'POST /v1/auth/login': { status: 401, body: { detail: 'wrong username or password' } },
  })
  const { stderr, exitCode } = await shoalHere(
    ['login', '--username', 'ines', '--password-stdin'],
    { home: home.path, registry: registry.address, input: 'guess' },
  )
  expect(stderr).toContain(`✗ ${registry.label}: wrong username or password.\n`)
  expect(exitCode).toBe(4)
})

test('with a sign-in that is no longer valid, public models can be read, and the user can sign in again', async () => {
  await using home = await makeHome()
  const refused = { status: 401, body: { detail: 'this token is revoked' } }
  const withoutToken =
    (answer: ScriptedAnswer) =>
    ({ authorization }: AskedFor) =>
      authorization ? refused : answer
  await using registry = await scriptedRegistry({
    'POST /v1/auth/login': withoutToken({ body: signedIn }),
    'GET /v1/models': withoutToken({ body: [] }),
    'GET /v1/auth/me': refused,
  })
  const options = { home: home.path, registry: registry.address }
  const login = ['login', '--username', 'ines', '--password-stdin']
  await shoalHere(login, { ...options, input: 'open sesame' })

  const lost = `Your sign-in to ${registry.label} is no longer valid: it has expired or was revoked.`
  const again = `  To sign in again: shoal login --registry ${registry.label}\n`
  const search = await shoalHere(['search'], options)
  expect(search.stderr).toContain(`! ${lost} Only public models are visible.\n${again}`)
  expect(search.exitCode).toBe(0)
  const whoami = await shoalHere(['whoami'], options)
  expect(whoami.stderr).toBe(`✗ ${lost}\n${again}`)
  expect(whoami.exitCode).toBe(4)
  const env = { SHOAL_TOKEN: 'hf_old' }
  expect((await shoalHere(['whoami'], { ...options, env })).stderr).toContain('unset it')
  expect((await shoalHere(login, { ...options, input: 'open sesame' })).exitCode).toBe(0)
})

test('login waits as long as the registry requests, then continues', async () => {
  await using home = await makeHome()
  const detail = 'many sign-ins with this username have failed: try again in 1 s'
  await using registry = await scriptedRegistry({
    'POST /v1/auth/login': [
      { status: 429, headers: { 'retry-after': '1' }, body: { detail, code: 'rate_limited' } },
      { body: signedIn },
    ],
  })
  const { stderr, exitCode } = await shoalHere(
    ['login', '--username', 'ines', '--password-stdin'],
    { home: home.path, registry: registry.address, input: 'open sesame\n' },
  )
  expect(stderr).toContain(`Waiting 1 s: ${registry.label} is busy (429).\n`)
  expect(stderr).toContain(`Signed in to ${registry.label} as ines.`)
  expect(exitCode).toBe(0)
})

test('an API key from stdin is checked before it is saved', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/auth/me': ({ authorization }: AskedFor) =>
      authorization === 'Bearer hf_good'
        ? { body: sampleUser }
        : { status: 401, body: { detail: 'unknown key' } },
  })
  const options = { home: home.path, registry: registry.address }
  const bad = await shoalHere(['login', '--token-stdin'], { ...options, input: 'hf_bad\n' })
  expect(bad.exitCode).toBe(4)
  const good = await shoalHere(['login', '--token-stdin'], { ...options, input: 'hf_good\n' })
  expect(good.exitCode).toBe(0)
  const kept = await readFile(join(home.path, 'config', 'credentials.json'), 'utf8')
  expect(JSON.parse(kept)[registry.address]).toMatchObject({ token: 'hf_good', username: 'ines' })
})

test.each([[['login']], [['register']], [['register', '--username', 'ines']]])(
  'without a terminal, %s does not prompt, and the error lists the options to pass',
  async (words) => {
    await using home = await makeHome()
    await using registry = await scriptedRegistry({})
    const { stderr, exitCode } = await shoalHere(words, {
      home: home.path,
      registry: registry.address,
    })
    expect(stderr).toContain('--password-stdin')
    expect(exitCode).toBe(2)
    expect(registry.asked.filter(({ method }) => method === 'POST')).toEqual([])
  },
)

test('if registration is closed, register asks for an invitation instead of a password', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/registry': { body: { registration_open: false } },
    'POST /v1/auth/register': { status: 201, body: signedIn },
  })
  const options = { home: home.path, registry: registry.address }
  const { stderr, exitCode } = await shoalHere(['register'], options)
  expect(stderr).toBe(
    `✗ Registration on ${registry.label} is closed.\n` +
      '  Ask an administrator for an invitation, then run: shoal register --invitation <link>\n',
  )
  expect(exitCode).toBe(5)
  const words = ['register', '--username', 'ines', '--password-stdin', '--invitation', 'shi_1']
  const invited = await shoalHere(words, { ...options, input: 'open sesame' })
  expect(invited.exitCode).toBe(0)
})

test('register sends the setup code that a new registry requires', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'POST /v1/auth/register': ({ body }: AskedFor) =>
      (body as { setup_code?: string }).setup_code === 'abc'
        ? { status: 201, body: { ...signedIn, user: { ...sampleUser, is_admin: true } } }
        : { status: 403, body: { detail: 'a setup code is needed', code: 'setup_code_required' } },
  })
  const options = { home: home.path, registry: registry.address, input: 'open sesame' }
  const words = ['register', '--username', 'ines', '--password-stdin']
  const without = await shoalHere(words, options)
  expect(without.stderr).toContain('Pass --setup-code.')
  expect(without.exitCode).toBe(2)
  const { stderr, exitCode } = await shoalHere([...words, '--setup-code', 'abc'], options)
  expect(stderr).toContain(`Created the account ines on ${registry.label} and signed in.`)
  expect(exitCode).toBe(0)
})

test('logout ends the session, and deletes its token even if the registry is offline', async () => {
  await using home = await makeHome()
  const options = { home: home.path, input: 'open sesame' }
  const login = ['login', '--username', 'ines', '--password-stdin']
  const registry = await scriptedRegistry({
    'POST /v1/auth/login': { body: signedIn },
    'POST /v1/auth/logout': { status: 204 },
  })
  const { address } = registry
  await shoalHere(login, { ...options, registry: address })
  const first = await shoalHere(['logout'], { ...options, registry: address })
  expect(first.stderr).toBe(`✓ Signed out of ${registry.label}.\n`)
  expect(registry.asked.at(-1)?.path).toBe('/v1/auth/logout')

  await shoalHere(login, { ...options, registry: address })
  await registry[Symbol.asyncDispose]()
  const second = await shoalHere(['logout'], { ...options, registry: address })
  expect(second.stderr).toContain(
    `! Nothing is running at ${registry.label}. The session remains valid until it expires.`,
  )
  expect(second.exitCode).toBe(0)
  const kept = await readFile(join(home.path, 'config', 'credentials.json'), 'utf8')
  expect(JSON.parse(kept)).toEqual({})
})
