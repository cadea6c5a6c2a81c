import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeDaemonState } from '../daemon/state-file.ts'
import { readPlaces } from '../settings/places.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { sampleUser } from '../testing/samples.ts'
import { scriptedDaemon } from '../testing/scripted-daemon.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

const healthy = {
  'GET /healthz': { body: { status: 'ok' } },
  'GET /v1/auth/me': { body: sampleUser },
}

test('doctor reports that all checks pass', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(healthy)
  await using daemon = await scriptedDaemon()
  const { stdout, exitCode } = await shoalHere(['doctor'], {
    home: home.path,
    registry: registry.address,
    env: {
      SHOAL_TOKEN: 'hf_key',
      SHOAL_INFERENCE: daemon.url,
      SHOAL_MODEL_FOLDERS: home.path,
    },
  })
  expect(stdout).toContain(`✓ The model folder ${home.path} can be read\n`)
  expect(stdout).toMatch(
    /✓ The daemon at 127\.0\.0\.1:\d+ responded in \d+ ms, with 1 model loaded\n/,
  )
  expect(stdout).toContain(`✓ ${registry.label} responded in `)
  expect(stdout).toContain(`✓ This machine's clock agrees with that of ${registry.label}\n`)
  expect(stdout).toContain(`✓ Signed in to ${registry.label} as ines\n`)
  expect(stdout).toContain(`✓ Node ${process.versions.node}\n`)
  expect(stdout).toContain(`✓ Models are stored in ${home.models}\n`)
  expect(exitCode).toBe(0)
})

test('an offline registry is reported as a problem, with advice', async () => {
  await using home = await makeHome()
  const { stdout, exitCode } = await shoalHere(['doctor', '--json'], {
    home: home.path,
    registry: 'http://127.0.0.1:9',
    env: { SHOAL_MODEL_FOLDERS: join(home.path, 'unmounted') },
  })
  const findings = JSON.parse(stdout) as { check: string; state: string; advice?: string }[]
  const registry = findings.find(({ check }) => check === 'registry')
  expect(registry?.state).toBe('problem')
  expect(registry?.advice).toContain('shoal registry')
  expect(findings.find(({ check }) => check === 'model-folders')).toMatchObject({
    state: 'warning',
    text: expect.stringMatching(
      /^The model folder .*unmounted cannot be read: it no longer exists/,
    ),
  })
  expect(exitCode).toBe(1)
})

test('a sign-in that cannot be checked is not reported as ended', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    ...healthy,
    'GET /v1/auth/me': { status: 403, body: { detail: 'not from this network' } },
  })
  const { stdout } = await shoalHere(['doctor'], {
    home: home.path,
    registry: registry.address,
    env: { SHOAL_TOKEN: 'hf_key' },
  })
  expect(stdout).toContain(
    `Checking the sign-in to ${registry.label} failed: Not from this network.\n`,
  )
  expect(stdout).not.toContain('To sign in again')
})

test('the response of a server in front of the registry is described by its page', async () => {
  await using home = await makeHome()
  const server = createServer((_, response) =>
    response.writeHead(502, { 'content-type': 'text/html' }).end('<title>502 Bad Gateway</title>'),
  )
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { stdout } = await shoalHere(['doctor'], {
    home: home.path,
    registry: `http://127.0.0.1:${port}`,
    env: { SHOAL_NETWORK_TIMEOUTS: 'giveup=100ms' },
  })
  expect(stdout).toContain(`✗ 127.0.0.1:${port} returned status 502 “Bad Gateway”\n`)
})

test("a clock that differs from the registry's clock is reported", async () => {
  await using home = await makeHome()
  const date = new Date(Date.now() - 3_600_000).toUTCString()
  await using registry = await scriptedRegistry({
    ...healthy,
    'GET /healthz': { body: { status: 'ok' }, headers: { date } },
  })
  const { stdout } = await shoalHere(['doctor'], { home: home.path, registry: registry.address })
  expect(stdout).toContain(`! This machine's clock is 1 h ahead of that of ${registry.label}\n`)
})

test('a daemon that rejects the key or does not respond is reported as a problem', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(healthy)
  const options = { home: home.path, registry: registry.address }
  const body = { detail: 'this API key is wrong', error: 'this API key is' }
  await using daemon = await scriptedDaemon({ at: { '/api/ps': { status: 401, body } } })
  const refused = await shoalHere(['doctor'], { ...options, env: { SHOAL_INFERENCE: daemon.url } })
  expect(refused.stdout).toContain('failed: This API key is')
  expect(refused.stdout).toContain("  Set SHOAL_API_KEY to the daemon's API key.\n")
  expect(refused.exitCode).toBe(1)

  const gone = await shoalHere(['doctor'], { ...options, env: { SHOAL_INFERENCE: 'localhost:9' } })
  expect(gone.stdout).toContain('✗ No daemon responds at localhost:9\n')
  expect(gone.exitCode).toBe(1)
})

test('a killed daemon is reported, with the path of its log', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(healthy)
  const url = 'http://localhost:9'
  await writeDaemonState(readPlaces({ SHOAL_HOME: home.path }), {
    pid: 2 ** 30,
    url,
    port: 9,
    started_at: '2026-01-31T12:00:00.000Z',
    log_file: '/logs/daemon.log',
    command: 'serve',
  })
  const { stdout } = await shoalHere(['doctor'], { home: home.path, registry: registry.address })
  expect(stdout).toContain('! A daemon exited unexpectedly (process 1073741824)\n')
  expect(stdout).toContain('  To see why: shoal logs (/logs/daemon.log)\n')
})
