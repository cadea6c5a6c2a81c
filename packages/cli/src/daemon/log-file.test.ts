import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { followFile, lastLines, putOldLogAside } from './log-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shoal-log-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the last lines of a log of any length are read', async () => {
  const path = join(folder, 'long.log')
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} ${'é'.repeat(20)}`)
  await writeFile(path, `${lines.join('\n')}\n`)
  expect((await lastLines(path, 3))?.lines).toEqual(lines.slice(-3))
  expect((await lastLines(path, 15_000))?.lines).toEqual(lines.slice(-15_000))
  expect((await lastLines(path, 99_999))?.lines).toEqual(lines)
  expect((await lastLines(path, 0))?.lines).toEqual([])
  expect(await lastLines(join(folder, 'none.log'), 3)).toBeUndefined()
})

test('an incomplete line is not shown', async () => {
  const path = join(folder, 'half.log')
  await writeFile(path, 'whole\nhal')
  expect(await lastLines(path, 5)).toEqual({ lines: ['whole'], end: 6 })
})

test('a log of more than 10 MB is renamed', async () => {
  const path = join(folder, 'large.log')
  await writeFile(path, 'x'.repeat(10_000_001))
  await putOldLogAside(path)
  expect(await lastLines(path, 1)).toBeUndefined()
  await writeFile(path, 'small\n')
  await putOldLogAside(path)
  expect((await lastLines(path, 1))?.lines).toEqual(['small'])
  await putOldLogAside(join(folder, 'none.log'))
})

test('new lines are followed, including those in a file that replaces the log', async () => {
  const path = join(folder, 'followed.log')
  await writeFile(path, 'old\n')
  const stop = new AbortController()
  const following = followFile(path, 4, stop.signal)
  const next = async () => (await following.next()).value
  const first = next()
  await appendFile(path, 'one\ntw')
  expect(await first).toBe('one')
  const second = next()
  await appendFile(path, 'o\n')
  expect(await second).toBe('two')
  const third = next()
  await rename(path, `${path}.1`)
  await writeFile(path, 'three\n')
  expect(await third).toBe('three')
  const end = next()
  stop.abort()
  expect(await end).toBeUndefined()
})
