import { expect, test } from 'vitest'
import { makeHome } from './testing/run-shoal.ts'
import { sampleModel, sampleUser } from './testing/samples.ts'
import { scriptedRegistry } from './testing/scripted-registry.ts'
import { shoalHere } from './testing/shoal-here.ts'

test('help lists every command, in groups', async () => {
  await using home = await makeHome()
  const { stdout, exitCode } = await shoalHere([], { home: home.path })
  expect(exitCode).toBe(0)
  expect(stdout.match(/^[A-Z]\w+:$/gm)).toEqual([
    'Options:',
    'Models:',
    'Publish:',
    'Run:',
    'Share:',
    'Registry:',
    'Account:',
    'Other:',
    'Variables:',
  ])
  expect(stdout).not.toContain('__complete')
})

test('the version is printed on stdout', async () => {
  await using home = await makeHome()
  const { stdout, exitCode } = await shoalHere(['--version'], { home: home.path })
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect(exitCode).toBe(0)
})

test.each([
  [['serch'], '✗ Unknown command “serch”.\n  Did you mean search?\n'],
  [['search', '--arhc', 'llama'], '✗ Unknown option “--arhc”.\n  Did you mean --arch?\n'],
  [['pull'], '✗ Missing required argument “model[:quant]”.\n  See shoal pull --help.\n'],
  [['keys', 'revoke'], '✗ Missing required argument “name”.\n  See shoal keys revoke --help.\n'],
  [['search', '--limit', 'many'], '✗ --limit: “many” is not a whole number from 1 to 200.\n'],
])('%s is a usage error', async (words, text) => {
  await using home = await makeHome()
  const { stdout, stderr, exitCode } = await shoalHere(words, { home: home.path })
  expect({ stdout, stderr, exitCode }).toEqual({ stdout: '', stderr: text, exitCode: 2 })
})

test('a command group without a subcommand shows its help, and ends with a usage error', async () => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['keys'], { home: home.path })
  expect(stderr).toContain('shoal keys [options] [command]')
  expect(exitCode).toBe(2)
})

test.each([
  [['--json', '--registry', 'ADDRESS', 'search']],
  [['search', '--json', '--registry', 'ADDRESS']],
  [['search', '--registry', 'ADDRESS', 'tide', '--json']],
])('global options are accepted before or after the command: %s', async (words) => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({ 'GET /v1/models': { body: [sampleModel()] } })
  const typed = words.map((word) => (word === 'ADDRESS' ? registry.address : word))
  const { stdout, exitCode } = await shoalHere(typed, { home: home.path })
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'tide-7b' }])
})

test('under --json, an error is also a document on stdout', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({})
  const shoalOptions = { home: home.path, registry: registry.address }
  const unknown = await shoalHere(['search', '--jsn', '--json'], shoalOptions)
  expect(JSON.parse(unknown.stdout).error).toMatchObject({ code: 'usage' })
  const failed = await shoalHere(['whoami', '--json'], shoalOptions)
  expect(JSON.parse(failed.stdout).error).toMatchObject({ code: 'not_found', status: 404 })
  expect(failed.exitCode).toBe(3)
})

test.each([
  [
    401,
    {},
    4,
    '✗ You are not signed in to HOST.\n  Run shoal login --registry HOST, or set SHOAL_TOKEN.\n',
  ],
  [403, { detail: 'not yours' }, 5, '✗ Not yours.\n'],
  [404, { detail: 'no such thing' }, 3, '✗ No such thing.\n'],
  [
    500,
    { detail: 'internal server error' },
    13,
    "✗ Internal server error.\n  Try again later. For details, see the registry's log.\n",
  ],
])('status %i with the body %j ends with exit code %i', async (status, body, code, text) => {
  await using home = await makeHome()
  const answer = { status, body: { detail: 'signed out', ...body } }
  await using registry = await scriptedRegistry({ 'GET /v1/auth/me': answer })
  const { stderr, exitCode } = await shoalHere(['whoami'], {
    home: home.path,
    registry: registry.address,
  })
  expect(stderr).toBe(text.replaceAll('HOST', registry.label))
  expect(exitCode).toBe(code)
})

test('if the registry is offline, the command ends with exit code 6 and advice', async () => {
  await using home = await makeHome()
  const registry = 'http://127.0.0.1:9'
  const { stderr, exitCode } = await shoalHere(['search'], { home: home.path, registry })
  expect(stderr).toBe(
    '✗ Nothing is running at 127.0.0.1:9.\n' +
      '  Start a registry with shoal registry, or specify another registry with --registry.\n',
  )
  expect(exitCode).toBe(6)
})

test('a wait that the registry requests is honored and shown', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/models': [
      { status: 429, body: { detail: 'too many calls' }, headers: { 'retry-after': '1' } },
      { body: [sampleModel()] },
    ],
  })
  const { stdout, stderr, exitCode } = await shoalHere(['search'], {
    home: home.path,
    registry: registry.address,
  })
  expect(stderr).toBe(`  Waiting 1 s: ${registry.label} is busy (429).\n`)
  expect(stdout).toContain('tide-7b')
  expect(exitCode).toBe(0)
})

test('Ctrl-C ends a wait immediately, with exit code 130', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/models': { status: 429, body: { detail: 'wait' }, headers: { 'retry-after': '60' } },
  })
  const stop = new AbortController()
  const { stderr, exitCode } = await shoalHere(['search'], {
    home: home.path,
    registry: registry.address,
    stopSignal: stop.signal,
    onOutput: ({ stderr }) => {
      if (stderr.includes('Waiting 60 s')) stop.abort()
    },
  })
  expect(stderr).toContain('■ Stopped.')
  expect(exitCode).toBe(130)
})

test('flags take precedence over the environment, and the environment over saved settings', async () => {
  await using home = await makeHome()
  await using first = await scriptedRegistry({ 'GET /v1/models': { body: [] } })
  await using second = await scriptedRegistry({ 'GET /v1/models': { body: [] } })
  await shoalHere(['config', 'set', 'registry', first.address], { home: home.path })
  await shoalHere(['search'], { home: home.path })
  expect([first.asked.length, second.asked.length]).toEqual([1, 0])
  await shoalHere(['search'], { home: home.path, registry: second.address })
  expect([first.asked.length, second.asked.length]).toEqual([1, 1])
  await shoalHere(['search', '--registry', first.address], {
    home: home.path,
    registry: second.address,
  })
  expect([first.asked.length, second.asked.length]).toEqual([2, 1])
})

test('the token from the environment is sent only to the current registry', async () => {
  await using home = await makeHome()
  await using own = await scriptedRegistry({ 'GET /v1/auth/me': { body: { username: 'ines' } } })
  await using other = await scriptedRegistry({ 'PUT /v1/models/tide-7b/like': { status: 204 } })
  const shoalOptions = { home: home.path, registry: own.address, env: { SHOAL_TOKEN: 'hf_secret' } }
  await shoalHere(['whoami'], shoalOptions)
  await shoalHere(['like', `${other.label}/tide-7b`], shoalOptions)
  expect(own.asked[0]?.authorization).toBe('Bearer hf_secret')
  expect(other.asked[0]?.authorization).toBeUndefined()
})

test('a newline at the end of a token is ignored, and a newline within a token is refused', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/auth/me': { body: { username: 'ines' } },
  })
  const whoami = (SHOAL_TOKEN: string) =>
    shoalHere(['whoami'], { home: home.path, registry: registry.address, env: { SHOAL_TOKEN } })
  expect((await whoami('hf_secret\n')).exitCode).toBe(0)
  expect(registry.asked[0]?.authorization).toBe('Bearer hf_secret')
  expect(await whoami('hf_\nsecret')).toMatchObject({
    exitCode: 2,
    stderr: '✗ SHOAL_TOKEN contains characters that are not allowed in a token.\n',
  })
})

test('control characters are removed from text that the registry returns', async () => {
  await using home = await makeHome()
  const hostile = '\x1b[2J\x1b]0;owned\x07\u202emit\n✓ Faked'
  const model = sampleModel({ name: `tide${hostile}`, owner: hostile, license: hostile })
  const user = { ...sampleUser, username: hostile }
  await using registry = await scriptedRegistry({
    'GET /v1/models': { body: [model] },
    'GET /v1/models/tide': { body: model },
    [`GET /v1/models/${encodeURIComponent(model.name)}/files`]: { body: [] },
    'GET /v1/models/tid': { status: 404, body: { detail: 'no', code: 'model_unknown' } },
    'GET /v1/models/tide/members': {
      body: [{ username: hostile, right: 'read', created_at: user.created_at }],
    },
    'GET /healthz': { body: { status: 'ok' } },
    'GET /v1/auth/me': { body: user },
    'GET /v1/api-keys': {
      body: [{ id: 'k', name: 'laptop', prefix: hostile, scopes: ['read'], expires_at: null }],
    },
    'PATCH /v1/models/tide': { body: model },
    'PUT /v1/models/tide/like': { status: 403, body: { detail: hostile } },
  })
  const options = { home: home.path, registry: registry.address, env: { SHOAL_TOKEN: 'hf_key' } }
  const commands = [
    ...['search', 'show tide', 'show tid', 'whoami', 'keys ls', 'members ls tide', 'doctor'],
    ...['rename tide ebb', 'like tide', 'whoami --json', 'whoami --progress json -v'],
  ]
  for (const command of commands) {
    const { stdout, stderr } = await shoalHere(command.split(' '), options)
    const text = stdout + stderr
    expect(text, command).toContain('owned')
    expect(text, command).not.toMatch(/(?!\n)[\p{Cc}\u202e]|^ *✓ Faked/mu)
  }
})

test('colors are used only on terminals', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({ 'GET /v1/models': { body: [sampleModel()] } })
  const shoalOptions = { home: home.path, registry: registry.address }
  expect((await shoalHere(['search'], { ...shoalOptions, isTerminal: true })).stdout).toContain(
    '\x1b[',
  )
  expect((await shoalHere(['search'], shoalOptions)).stdout).not.toContain('\x1b[')
  const plain = await shoalHere(['search', '--no-color'], { ...shoalOptions, isTerminal: true })
  expect(plain.stdout).not.toContain('\x1b[')
})
