import { appendFile, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../../testing/temporary-folder.ts'
import { makeReleaseKey, signAgain, writeRelease } from '../testing/write-release.ts'
import { openReleases } from './releases.ts'

async function scene() {
  const folder = temporaryFolder()
  const directory = join(folder, 'releases')
  const releases = openReleases(directory)
  return {
    releases,
    add: (...paths: string[]) => releases.add(paths, async () => undefined),
    listFolders: async () => ((await readdir(folder)).length === 0 ? [] : await readdir(directory)),
    directory,
  }
}

async function make(contents: Partial<Parameters<typeof writeRelease>[0]> = {}) {
  const key = contents.key ?? makeReleaseKey()
  const release = await writeRelease({ ...contents, key })
  onTestFinished(release[Symbol.asyncDispose])
  return { ...release, key }
}

test('a release is verified, copied, and listed with its files', async () => {
  const { releases, add } = await scene()
  const made = await make()
  expect(await releases.list()).toEqual([])
  const { release, isNew } = await add(made.path)
  expect(isNew).toBe(true)
  expect(release).toMatchObject({ version: '1.0.0', archives: [{ version: '1.0.0' }] })
  expect(release.files).toHaveLength(2)
  expect(await releases.list()).toEqual([release])
  for (const { name } of release.files) {
    expect(await readFile(join(release.folder, name))).toEqual(
      await readFile(join(made.path, name)),
    )
  }
  expect(await add(made.path)).toEqual({ release, isNew: false })
})

test('single files are enough if an archive, the checksums, the signature and the key are among them', async () => {
  const { add } = await scene()
  const { path, archive } = await make()
  const signed = ['SHA256SUMS', 'SHA256SUMS.sig', 'SHA256SUMS.pem'].map((name) => join(path, name))
  const { release } = await add(archive, ...signed)
  expect(release.files).toHaveLength(1)
})

test('damaged, changed and incomplete releases are refused, and leave no files behind', async () => {
  const { add, listFolders } = await scene()
  const cases: [string, (path: string, archive: string) => Promise<unknown>][] = [
    ['is damaged', (_, archive) => appendFile(archive, 'x')],
    ['is damaged', (_, archive) => truncate(archive, 10)],
    ['is missing from', (_, archive) => rm(archive)],
    ['SHA256SUMS is missing', (path) => rm(join(path, 'SHA256SUMS'))],
    ['SHA256SUMS.sig is missing', (path) => rm(join(path, 'SHA256SUMS.sig'))],
    [
      'the signature of',
      (path) => appendFile(join(path, 'SHA256SUMS'), `${'0'.repeat(64)}  more\n`),
    ],
    ['the signature of', (path) => truncate(join(path, 'SHA256SUMS.sig'), 63)],
    ['no Ed25519 public key', (path) => writeFile(join(path, 'SHA256SUMS.pem'), 'damaged')],
    ['not a list of SHA-256', (path) => signAgain(path, makeReleaseKey(), 'damaged')],
    ['is too large', (path) => writeFile(join(path, 'SHA256SUMS'), 'x'.repeat(200_000))],
  ]
  for (const [message, damage] of cases) {
    const { path, archive } = await make()
    await damage(path, archive)
    await expect(add(path), message).rejects.toThrow(message)
  }
  expect(await listFolders()).toEqual([])
})

test('a release without an archive, and a file that the checksums do not list, are refused', async () => {
  const { add } = await scene()
  const { path, archive, key } = await make()
  await writeFile(join(path, 'other'), 'not listed')
  const all = (await readdir(path)).map((name) => join(path, name))
  await expect(add(...all)).rejects.toThrow('SHA256SUMS does not list')
  await rm(archive)
  await signAgain(path, key)
  await expect(add(path)).rejects.toThrow('npm run release')
  await expect(add(join(path, 'none'))).rejects.toThrow('ENOENT')
})

test('the newest release of each platform is offered, regardless of the order in which releases were added', async () => {
  const { releases, add } = await scene()
  const key = makeReleaseKey()
  for (const [version, platform] of [
    ['1.10.0', 'linux-x64'],
    ['1.9.0', 'linux-x64'],
    ['1.9.0', 'linux-arm64'],
    ['1.10.0-rc.1', 'linux-x64'],
  ] as const)
    await add((await make({ key, version, platform })).path)
  const found = await releases.listOffered(() => undefined)
  expect(found.map(({ archive }) => [archive.platform, archive.version])).toEqual([
    ['linux-arm64', '1.9.0'],
    ['linux-x64', '1.10.0'],
  ])
  expect((await releases.list()).map(({ version }) => version)).toEqual([
    ...['1.10.0', '1.10.0-rc.1', '1.9.0', '1.9.0'],
  ])
})

test('a different archive with the same name is refused, and a different key must be confirmed', async () => {
  const { releases, add } = await scene()
  await add((await make()).path)
  await expect(add((await make({ program: '#!/bin/sh\n' })).path)).rejects.toThrow(
    'increase the version',
  )
  const later = await make({ version: '1.0.1' })
  const refuse = async (key: string) => {
    throw new Error(`refused ${key}`)
  }
  await expect(releases.add([later.path], refuse)).rejects.toThrow(/refused [0-9a-f]{64}/)
  expect(await releases.list()).toHaveLength(1)
})

test('a copy that has not been completed is not visible', async () => {
  const { releases, add, directory } = await scene()
  const { release } = await add((await make()).path)
  await symlink(release.folder, join(directory, '.adding-copy'))
  expect(await releases.list()).toHaveLength(1)
})
