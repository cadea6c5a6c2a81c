import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cachedBuild, hashFiles } from './build-cache.ts'

let folder: string
let cache: string
let builds: number
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-build-cache-'))
  cache = join(folder, 'shoal-tests')
  builds = 0
})
afterEach(() => rmSync(folder, { recursive: true }))

let copies = 0

/** Builds, or uses the cache. Returns the result's text. */
async function get(
  key: string,
  options: { check?: (text: string) => void; isFresh?: boolean } = {},
) {
  const into = join(folder, `copy-${++copies}`)
  const read = (path: string) => readFileSync(join(path, 'nested', 'result'), 'utf8')
  const build = {
    name: 'built',
    key,
    async build(path: string) {
      builds += 1
      mkdirSync(join(path, 'nested'))
      writeFileSync(join(path, 'nested', 'result'), `result of build ${builds}`)
    },
    check: (path: string) => options.check?.(read(path)),
  }
  const env = { XDG_CACHE_HOME: folder, ...(options.isFresh && { SHOAL_TEST_FRESH: '1' }) }
  await cachedBuild(build, into, env)
  return read(into)
}

const one = hashOf('1')
const entryOf = (key: string) => join(cache, `built-${key}`)

function hashOf(text: string) {
  return hashFiles(import.meta.dirname, ['build-cache.ts'], [text])
}

describe('a build', () => {
  test('runs once for each key', async () => {
    expect(await get(one)).toBe('result of build 1')
    expect(await get(one)).toBe('result of build 1')
    expect(await get(hashOf('2'))).toBe('result of build 2')
    expect(await get(one)).toBe('result of build 1')
  })

  test('runs again if SHOAL_TEST_FRESH is set, and its result replaces the cached one', async () => {
    await get(one)
    expect(await get(one, { isFresh: true })).toBe('result of build 2')
    expect(await get(one)).toBe('result of build 2')
  })

  test.each([
    [
      'a changed byte',
      () => writeFileSync(join(entryOf(one), 'files/nested/result'), 'result of build 2'),
    ],
    ['a missing file', () => rmSync(join(entryOf(one), 'files/nested/result'))],
    ['an additional file', () => writeFileSync(join(entryOf(one), 'files/more'), '')],
    ['a missing folder', () => rmSync(join(entryOf(one), 'files'), { recursive: true })],
    ['a damaged manifest', () => writeFileSync(join(entryOf(one), 'manifest.json'), '{')],
    ['a result of last week', () => makeOlder(8 * 24 * 3_600_000)],
  ])('runs again after %s', async (_, damage) => {
    await get(one)
    damage()
    expect(await get(one)).toBe('result of build 2')
    expect(await get(one)).toBe('result of build 2')
  })

  test('runs again if the cached result fails its check', async () => {
    await get(one)
    const check = (text: string) => expect(text).not.toBe('result of build 1')
    expect(await get(one, { check })).toBe('result of build 2')
  })

  test('leaves nothing in the cache if its result fails the check', async () => {
    const check = () => {
      throw new Error('the result is wrong')
    }
    await expect(get(one, { check })).rejects.toThrow('the result is wrong')
    expect(await get(one)).toBe('result of build 2')
  })

  test('can run in several processes at the same time', async () => {
    await Promise.all([get(one), get(one), get(one)])
    expect(await get(one)).toMatch(/^result of build [123]$/)
    expect(readdirSync(cache)).toHaveLength(1)
  })
})

test('the three results that were used last are kept', async () => {
  const keys = ['1', '2', '3', '4'].map(hashOf)
  for (const [index, key] of keys.entries()) {
    await get(key)
    utimesSync(entryOf(key), 1_000 + index, 1_000 + index)
  }
  await get(one) // built again, because the fourth result has replaced it
  expect(builds).toBe(5)
  expect(readdirSync(cache).sort()).toEqual([0, 2, 3].map((at) => `built-${keys[at]}`).sort())
})

test('using a result keeps it longer', async () => {
  const keys = ['1', '2', '3', '4'].map(hashOf)
  for (const [index, key] of keys.slice(0, 3).entries()) {
    await get(key)
    utimesSync(entryOf(key), 1_000 + index, 1_000 + index)
  }
  await get(one)
  await get(keys[3] ?? '')
  expect(await get(one)).toBe('result of build 1')
})

describe('a key', () => {
  const hash = () => hashFiles(folder, ['src/**'])
  beforeEach(() => {
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src/a'), 'one')
  })

  test.each([
    ['a content', () => writeFileSync(join(folder, 'src/a'), 'two')],
    ['a new file', () => writeFileSync(join(folder, 'src/b'), '')],
    ['a permission', () => chmodSync(join(folder, 'src/a'), 0o755)],
  ])('changes with %s', (_, change) => {
    const before = hash()
    expect(hash()).toBe(before)
    change()
    expect(hash()).not.toBe(before)
  })

  test('does not depend on what npm and builds write', () => {
    const before = hash()
    for (const name of ['node_modules', 'dist', '.build']) {
      mkdirSync(join(folder, 'src', name))
      writeFileSync(join(folder, 'src', name, 'output'), '')
    }
    expect(hash()).toBe(before)
  })

  test('cannot be made of files that do not exist', () => {
    expect(() => hashFiles(folder, ['src/**', 'lib/**'])).toThrow('lib/** matches no file')
  })
})

function makeOlder(ms: number) {
  const path = join(entryOf(one), 'manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...manifest, builtMs: manifest.builtMs - ms }))
}
