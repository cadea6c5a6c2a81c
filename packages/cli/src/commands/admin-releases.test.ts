import { appendFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { makeReleaseKey, writeRelease } from '../../../releases/src/testing/write-release.ts'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('shoal admin releases adds and lists releases, and refuses a damaged one', async () => {
  await using registry = await realRegistry()
  await using home = await makeHome()
  const releases = (...words: string[]) =>
    shoalHere(['admin', 'releases', ...words, '--data', registry.dataDirectory], {
      home: home.path,
    })
  expect((await releases('ls')).stderr).toContain('npm run release')

  const key = makeReleaseKey()
  await using first = await writeRelease({ key, platform: 'linux-x64' })
  const added = await releases('add', first.path)
  expect(added.stderr).toContain('Added shoal 1.0.0.')
  expect(added.stdout).toMatch(/^linux-x64, signed with the key [0-9a-f]{64}\n$/)
  expect((await releases('add', first.path)).stderr).toContain('had already been added')
  expect((await releases('ls')).stdout).toMatch(/VERSION .*\n1\.0\.0 +linux-x64 .* B +[0-9a-f]{16}/)

  await using damaged = await writeRelease({ key, version: '1.0.1' })
  await appendFile(damaged.archive, 'x')
  const refused = await releases('add', damaged.path)
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
  expect(refused.stderr).toContain('is damaged')

  await using other = await writeRelease({ key: makeReleaseKey(), version: '1.0.2' })
  expect((await releases('add', other.path)).exitCode).toBe(2) // not confirmed
  expect((await releases('add', other.path, '--yes')).exitCode).toBe(0)
  expect(JSON.parse((await releases('ls', '--json')).stdout)).toMatchObject([
    { version: '1.0.2' },
    { version: '1.0.0', platforms: ['linux-x64'] },
  ])

  const audit = await shoalHere(['admin', 'audit', '--data', registry.dataDirectory], {
    home: home.path,
  })
  expect(audit.stdout.match(/registry\.release_added/g)).toHaveLength(2)
})
