import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mebibyte } from '@shoal/core/units'
import { hashFileWithPiecesInWorker } from '@shoal/model-file'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readBack } from './read-back.ts'

/** Three chunks; the last one is smaller. */
const sizeBytes = 35 * mebibyte
const bytes = randomBytes(sizeBytes)
const sha256 = createHash('sha256').update(bytes).digest('hex')
const folder = await mkdtemp(join(tmpdir(), 'shoal-read-back-'))
const uploadPath = (key: string) => join(folder, key)
const mapPath = (key: string) => join(folder, `${key}.chunks`)
const reading = readBack({ uploadPath, mapPath })
let pieceHashes: Uint8Array

beforeAll(async () => {
  await writeFile(uploadPath('whole'), bytes)
  pieceHashes = (await hashFileWithPiecesInWorker(uploadPath('whole'))).pieceHashes
})
afterAll(() => rm(folder, { recursive: true }))

/** Creates an upload whose bytes are all in the file. `marks` contains 1 for each chunk that counts as stored. */
async function upload(key: string, marks: number[]) {
  await writeFile(uploadPath(key), bytes)
  await writeFile(mapPath(key), Buffer.from(marks))
}

const finish = (key: string) => reading.finish(key, uploadPath(key))
const isRead = (key: string, chunks: number) =>
  expect.poll(() => reading.chunksRead(key), { timeout: 60_000 }).toBe(chunks)

async function overwrite(key: string, position: number, changed: Buffer) {
  const file = await open(uploadPath(key), 'r+')
  await file.write(changed, 0, changed.length, position)
  await file.close()
}

async function openFiles(): Promise<string[]> {
  const names = await readdir('/proc/self/fd')
  const targets = names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''))
  return Promise.all(targets)
}

test('reads the chunks up to the first missing one, and the rest at the end', async () => {
  await upload('in-order', [0, 0, 0])
  reading.stored('in-order', 2)
  reading.stored('in-order', 0)
  await isRead('in-order', 1)
  // Bytes that have been read are not read again, so overwriting them does not change the hashes.
  await overwrite('in-order', 0, Buffer.alloc(mebibyte))
  reading.stored('in-order', 1)
  await isRead('in-order', 3)
  const hashes = await finish('in-order')
  expect(hashes).toMatchObject({ sha256_hash: sha256, fileSizeBytes: sizeBytes })
  expect(hashes.pieceHashes).toEqual(pieceHashes)
  expect(reading.chunksRead('in-order')).toBe(0)
})

test('begins with the chunks that an earlier process stored', async () => {
  await upload('restarted', [1, 0, 1])
  reading.stored('restarted', 1)
  await isRead('restarted', 3)
  expect((await finish('restarted')).sha256_hash).toBe(sha256)
})

test('reads the whole file at the end if nothing was read before', async () => {
  await upload('at-once', [1, 1, 1])
  expect((await finish('at-once')).sha256_hash).toBe(sha256)
  await expect(reading.finish('none', join(folder, 'none'))).rejects.toThrow('ENOENT')
})

test('reads a dropped upload again from the beginning, and keeps no file open', async () => {
  await upload('dropped', [0, 0, 0])
  await overwrite('dropped', 0, Buffer.alloc(mebibyte))
  reading.stored('dropped', 0)
  await isRead('dropped', 1)
  await reading.drop('dropped')
  expect(await openFiles()).not.toContain(uploadPath('dropped'))
  await overwrite('dropped', 0, bytes.subarray(0, mebibyte))
  for (const index of [0, 1, 2]) reading.stored('dropped', index)
  expect((await finish('dropped')).sha256_hash).toBe(sha256)
  expect(await openFiles()).not.toContain(uploadPath('dropped'))
})

test('reads several uploads at once; one that is stopped or cannot be read does not affect the others', async () => {
  const keys = ['one', 'two', 'cut']
  for (const key of keys) await upload(key, [1, 1, 1])
  const cut = await open(uploadPath('cut'), 'r+')
  reading.stored('cut', 0)
  await isRead('cut', 3)
  await reading.drop('cut')
  await cut.truncate(mebibyte)
  await cut.close()
  const stop = new AbortController()
  const stopped = reading.finish('one', uploadPath('one'), stop.signal)
  const others = [finish('two'), finish('cut')]
  stop.abort(new Error('stopped'))
  await expect(stopped).rejects.toThrow('stopped')
  const [two, short] = await Promise.all(others)
  expect(two?.sha256_hash).toBe(sha256)
  expect(short?.fileSizeBytes).toBe(mebibyte)
  expect((await finish('one')).sha256_hash).toBe(sha256)
})

test('after it is closed, no file is open, and uploads can be read again', async () => {
  await upload('closed', [1, 0, 0])
  reading.stored('closed', 0)
  await isRead('closed', 1)
  await reading.close()
  expect(await openFiles()).not.toContain(uploadPath('closed'))
  expect((await finish('closed')).sha256_hash).toBe(sha256)
})

test('two calls that drop an upload both wait until its file is closed', async () => {
  await upload('twice', [1, 0, 0])
  reading.stored('twice', 0)
  await isRead('twice', 1)
  let isClosed = false
  const first = reading.drop('twice').then(() => {
    isClosed = true
  })
  await reading.drop('twice')
  expect(isClosed).toBe(true)
  expect(await openFiles()).not.toContain(uploadPath('twice'))
  await first
})

test('closes the file of an upload whose map cannot be read', async () => {
  await writeFile(uploadPath('no-map'), bytes)
  await mkdir(mapPath('no-map'))
  reading.stored('no-map', 0)
  await upload('next', [1, 0, 0])
  reading.stored('next', 0)
  await isRead('next', 1) // opened after the other file
  await expect.poll(openFiles).not.toContain(uploadPath('no-map'))
  await reading.drop('next')
})
