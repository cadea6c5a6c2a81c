import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { setVersion } from './set-version.ts'

const repository = join(import.meta.dirname, '..')
const files = [
  ...['deploy/example.env', 'package-lock.json', 'package.json'],
  ...['packages/cli/package.json', 'bench/package.json'],
]

async function copyRepository() {
  const root = temporaryFolder()
  for (const path of files) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await cp(join(repository, path), join(root, path))
  }
  await writeFile(
    join(root, 'CHANGELOG.md'),
    '# Changelog\n\n## Unreleased\n\n### Registry\n\n- A change.\n\n## 0.0.1 (2020-01-31)\n',
  )
  const read = (path: string) => readFile(join(root, path), 'utf8')
  return { root, read, readAll: () => Promise.all(['CHANGELOG.md', ...files].map(read)) }
}

test('a version is set in all packages, their dependencies, the lock file and the changelog', async () => {
  const { root, read } = await copyRepository()
  const { version: before } = JSON.parse(await read('package.json'))
  await setVersion(root, '99.1.0-rc.1', '2030-01-31')
  for (const path of files) expect(await read(path), path).toContain('99.1.0-rc.1')
  expect(await read('CHANGELOG.md')).toContain(
    '\n## Unreleased\n\n## 99.1.0-rc.1 (2030-01-31)\n\n### ',
  )
  const { dependencies } = JSON.parse(await read('packages/cli/package.json'))
  expect(dependencies).toMatchObject({
    '@shoal/registry': '99.1.0-rc.1',
    commander: expect.any(String),
  })
  const { packages } = JSON.parse(await read('package-lock.json'))
  expect(packages['packages/cli']).toMatchObject({ version: '99.1.0-rc.1', dependencies })
  expect(packages['packages/web'].version).toBe(before) // it is not in this copy of the repository
})

test('a version that is malformed, not newer or without changes is refused, and nothing is changed', async () => {
  const { root, readAll } = await copyRepository()
  const unchanged = await readAll()
  const refuse = (version: string, reason: string) =>
    expect(setVersion(root, version, '2030-01-31')).rejects.toThrow(reason)
  await refuse('1.0', 'is not a version')
  await refuse('0.0.9', 'is not newer than the current one')
  expect(await readAll()).toEqual(unchanged)
  await setVersion(root, '98.0.0', '2030-01-31')
  await refuse('99.0.0', 'lists no changes')
})
