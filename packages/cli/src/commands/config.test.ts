import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('a setting can be set, read, listed and removed', async () => {
  await using home = await makeHome()
  const at = { home: home.path }
  expect((await shoalHere(['config', 'get', 'registry'], at)).exitCode).toBe(3)
  await shoalHere(['config', 'set', 'registry', 'models.example.org'], at)
  const got = await shoalHere(['config', 'get', 'registry'], at)
  expect(got.stdout).toBe('https://models.example.org\n')
  const path = join(home.path, 'config', 'config.json')
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    registry: 'https://models.example.org',
  })
  const listed = await shoalHere(['config', 'ls'], at)
  expect(listed.stdout.split('\n')[0]).toBe('registry = https://models.example.org')
  await shoalHere(['config', 'set', 'registry', ''], at)
  expect((await shoalHere(['config', 'ls', '--json'], at)).stdout).toBe('{}\n')
})

test.each([
  [['set', 'registri', 'x'], 'Unknown setting “registri”.\n  Did you mean registry?'],
  [['set', 'limit-rate', 'fast'], '“fast” is not a valid speed. Example: 10MB.'],
  [['set', 'connections', '0'], '“0” is not a whole number from 1 to 64.'],
])('%s is refused', async (words, text) => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['config', ...words], { home: home.path })
  expect(stderr).toBe(`✗ ${text}\n`)
  expect(exitCode).toBe(2)
})

test.each([
  ['registry', 'ftp://tide', '“ftp://tide” is not a valid registry address.'],
  ['peers', 0, '“0” is neither “on” nor “off”.'],
])(
  'the error for an invalid %s in config.json contains the path of the file',
  async (key, value, text) => {
    await using home = await makeHome()
    const path = join(home.path, 'config', 'config.json')
    await mkdir(join(home.path, 'config'))
    await writeFile(path, JSON.stringify({ [key]: value }))
    const { stderr, exitCode } = await shoalHere(['seed'], { home: home.path })
    expect(stderr).toContain(`✗ ${key} in ${path}: ${text}\n`)
    expect(exitCode).toBe(2)
  },
)
