import { expect, test } from 'vitest'
import { compareVersions, parseArchiveName, parseChecksums } from './index.ts'

test('versions are ordered as Semantic Versioning states', () => {
  const ordered = [
    ...['0.9.10', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta.2'],
    ...['1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1', '1.2.0', '1.10.0', '2.0.0'],
  ]
  expect(ordered.toReversed().toSorted(compareVersions)).toEqual(ordered)
  expect(compareVersions('1.0.0', '1.0.0')).toBe(0)
  expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0)
})

test('the name of an archive contains its version and its platform', () => {
  expect(parseArchiveName('shoal-0.1.0-linux-x64.tar.gz')).toMatchObject({
    version: '0.1.0',
    platform: 'linux-x64',
  })
  expect(parseArchiveName('shoal-1.0.0-rc.1-linux-arm64.tar.gz')).toMatchObject({
    version: '1.0.0-rc.1',
    platform: 'linux-arm64',
  })
  for (const name of ['shoal-0.1.0.tgz', 'shoal-0.1-linux-x64.tar.gz', 'x-0.1.0-linux-x64.tar.gz'])
    expect(parseArchiveName(name)).toBeUndefined()
})

test('checksums are read, and those with paths, hidden files or repeated names are refused', () => {
  const sha256 = 'a'.repeat(64)
  expect(parseChecksums(`${sha256}  one\n${sha256}  two.tar.gz\n`)).toEqual(
    new Map([
      ['one', sha256],
      ['two.tar.gz', sha256],
    ]),
  )
  for (const text of [
    '',
    'no checksums',
    `${sha256}  ../one\n`,
    `${sha256}  /one\n`,
    `${sha256}  .hidden\n`,
    `${sha256}  one\n${sha256}  one\n`,
    `${sha256}  one`.slice(1),
  ])
    expect(parseChecksums(text), text).toBeUndefined()
})
