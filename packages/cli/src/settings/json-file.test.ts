import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readJsonFile, updateJsonFile } from './json-file.ts'

let directory: string
let path: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'shoal-json-'))
  path = join(directory, 'config', 'credentials.json')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

test('concurrent changes are all saved, and no other files are left', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `registry-${index}`)
  await Promise.all(
    names.map((name) => updateJsonFile(path, 0o600, (content) => ({ ...content, [name]: 1 }))),
  )
  expect(Object.keys(await readJsonFile(path)).toSorted()).toEqual(names.toSorted())
  expect(await readdir(join(directory, 'config'))).toEqual(['credentials.json'])
})

test('only the owner can read the file', async () => {
  await updateJsonFile(path, 0o600, () => ({ token: 'secret' }))
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('a lock file left by a killed process is not a lock', async () => {
  await updateJsonFile(path, 0o600, () => ({}))
  await writeFile(`${path}.lock`, '')
  await updateJsonFile(path, 0o600, () => ({ done: true }))
  expect(await readJsonFile(path)).toEqual({ done: true })
})

test('the error for an invalid file contains its path, and the file is not overwritten', async () => {
  await updateJsonFile(path, 0o600, () => ({}))
  await writeFile(path, '{"half":')
  await expect(updateJsonFile(path, 0o600, () => ({}))).rejects.toThrow(
    `${path} is not a valid JSON object`,
  )
})
