import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'
import { npmCommand } from './runtime.ts'

test('without GPU backends, ls shows how to install one, and which device is in use', async () => {
  await using home = await makeHome()
  const { stdout, exitCode } = await shoalHere(['runtime', 'ls'], { home: home.path })
  expect(stdout).toMatch(
    /^vulkan +(no; to install: shoal runtime install vulkan|not available for this system)$/m,
  )
  expect(stdout).toContain('Models run on ')
  expect(exitCode).toBe(0)
  const asJson = await shoalHere(['runtime', 'ls', '--json'], { home: home.path })
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    backends: [{ name: 'cuda' }, { name: 'vulkan' }],
    device: { kind: expect.any(String) },
  })
})

test('a failed installation states the reason', async () => {
  await using home = await makeHome()
  const env = { npm_execpath: import.meta.filename.replace(/ts$/, 'no-npm.js') }
  const words = ['runtime', 'install', 'vulkan']
  const { stderr, exitCode } = await shoalHere(words, { home: home.path, env })
  expect(stderr).toContain('✗ vulkan could not be installed.')
  expect(exitCode).toBe(1)
})

test('npmCommand prefers the npm that started shoal to the npm on the PATH or, on Windows, next to Node', () => {
  const { execPath } = process
  expect(npmCommand({ npm_execpath: '/npm/npm-cli.js' })).toEqual([execPath, '/npm/npm-cli.js'])
  expect(npmCommand({}, 'darwin')).toEqual(['npm'])
  const script = join(dirname(execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js')
  expect(npmCommand({}, 'win32')).toEqual([execPath, script])
})

test('an unknown backend is refused, and deleting one that is not installed succeeds', async () => {
  await using home = await makeHome()
  const wrong = await shoalHere(['runtime', 'install', 'metal'], { home: home.path })
  expect(wrong.stderr).toContain('Available backends: cuda, vulkan.')
  expect(wrong.exitCode).toBe(2)
  const gone = await shoalHere(['runtime', 'rm', 'cuda'], { home: home.path })
  expect(gone.stderr).toContain('cuda is not installed.')
})
