import { expect, test } from 'vitest'
import { makeHome } from '../testing/run-shoal.ts'
import { type AskedFor, scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

const key = {
  id: 'key-1',
  name: 'laptop',
  prefix: 'hf_9f3c',
  scopes: ['read'],
  created_at: '2026-01-31T12:00:00.000Z',
  last_used_at: null,
  expires_at: '2026-05-01T12:00:00.000Z',
}

const script = {
  'GET /v1/api-keys': { body: [key] },
  'DELETE /v1/api-keys/key-1': { status: 204 },
  'POST /v1/api-keys': ({ body }: AskedFor) => ({
    status: 201,
    body: { ...key, ...(body as object), key: 'hf_secret' },
  }),
}

test('only the new key is printed on stdout', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(script)
  const { stdout, stderr } = await shoalHere(
    ['keys', 'new', 'ci', '--scope', 'read', '--expires', '1d'],
    { home: home.path, registry: registry.address },
  )
  expect(stdout).toBe('hf_secret\n')
  expect(stderr).toContain(`API key ci for ${registry.label}: read, valid until `)
  const { scopes, expires_at } = Object(registry.asked[0]?.body)
  expect(scopes).toEqual(['read'])
  expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(86_400_000)
})

test('keys are listed without their secrets', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(script)
  const { stdout } = await shoalHere(['keys', 'ls'], {
    home: home.path,
    registry: registry.address,
  })
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    'NAME    KEY       SCOPES  USED   VALID',
    'laptop  hf_9f3c…  read    never  until 2026-05-01',
  ])
})

test('revoking asks for confirmation', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(script)
  const options = { home: home.path, registry: registry.address }
  const refused = await shoalHere(['keys', 'revoke', 'laptop'], options)
  expect(refused.stderr).toContain('Revoke the API key laptop (hf_9f3c…)?')
  expect(refused.exitCode).toBe(2)
  expect((await shoalHere(['keys', 'revoke', 'laptop', '-y'], options)).exitCode).toBe(0)
  expect(registry.asked.at(-1)?.method).toBe('DELETE')
  expect((await shoalHere(['keys', 'revoke', 'desktop', '-y'], options)).exitCode).toBe(3)
})

test('an unknown scope is a usage error', async () => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['keys', 'new', 'ci', '--scope', 'reed'], {
    home: home.path,
  })
  expect(stderr).toBe('✗ Unknown scope “reed”.\n  Valid scopes: read, write, admin.\n')
  expect(exitCode).toBe(2)
})
