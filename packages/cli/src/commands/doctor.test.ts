import { expect, test } from 'vitest'
import { makeHome } from '../testing/run-shoal.ts'
import { sampleUser } from '../testing/samples.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

const healthy = {
  'GET /healthz': { body: { status: 'ok' } },
  'GET /v1/auth/me': { body: sampleUser },
}

test('where all is well each line says so', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(healthy)
  const { stdout, exitCode } = await shoalHere(['doctor'], {
    home: home.path,
    registry: registry.address,
    env: { SHOAL_TOKEN: 'hf_key' },
  })
  expect(stdout).toContain(`✓ ${registry.label} answers in `)
  expect(stdout).toContain(`✓ The clock agrees with that of ${registry.label}\n`)
  expect(stdout).toContain(`✓ Signed in to ${registry.label} as ines\n`)
  expect(stdout).toContain(`✓ Node ${process.versions.node}\n`)
  expect(stdout).toContain(`✓ Models go to ${home.models}\n`)
  expect(exitCode).toBe(0)
})

test('a registry that is not there is a problem, with what to do', async () => {
  await using home = await makeHome()
  const { stdout, exitCode } = await shoalHere(['doctor', '--json'], {
    home: home.path,
    registry: 'http://127.0.0.1:9',
  })
  const findings = JSON.parse(stdout) as { check: string; state: string; advice?: string }[]
  const registry = findings.find(({ check }) => check === 'registry')
  expect(registry?.state).toBe('problem')
  expect(registry?.advice).toContain('shoal registry')
  expect(exitCode).toBe(1)
})

test('a clock that is off is found', async () => {
  await using home = await makeHome()
  const date = new Date(Date.now() - 3_600_000).toUTCString()
  await using registry = await scriptedRegistry({
    ...healthy,
    'GET /healthz': { body: { status: 'ok' }, headers: { date } },
  })
  const { stdout } = await shoalHere(['doctor'], { home: home.path, registry: registry.address })
  expect(stdout).toContain(`! The clock here is 1 h ahead of that of ${registry.label}\n`)
})
