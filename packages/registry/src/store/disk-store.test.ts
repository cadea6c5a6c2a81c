import { createHash } from 'node:crypto'
import { mkdtemp, open, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { isAbleToMountImages, mountImage } from '../../../../testing/image-disk.ts'
import { temporaryFolder } from '../../../../testing/temporary-folder.ts'
import { openDiskStore } from './disk-store.ts'
import { objectStoreContract } from './testing/object-store.contract.ts'
import { serveStore } from './testing/serve-store.ts'

const directory = await mkdtemp(join(tmpdir(), 'shoal-store-'))
afterAll(() => rm(directory, { recursive: true }))
/** Only the test of `alone` changes it. */
const senderTimeoutMs = { alone: 60_000, waitedFor: 200 }
const served = await serveStore(async (baseUrl) => ({
  store: await openDiskStore({
    directory,
    signingKey: 'a key for tests',
    baseUrl,
    senderTimeoutMs,
  }),
}))
const { store } = served

objectStoreContract('disk', async () => served)

test('reading from a disk store fails if the file ends early', async () => {
  const key = 'cut-short'
  const layout = { sizeBytes: 100, chunkSize: 100 }
  await store.startUpload(toUpload(key), layout)
  await store.finishUpload(toUpload(key), layout)
  const file = await open(join(directory, 'objects', 'rt', key), 'r+')
  await file.truncate(40)
  await file.close()
  const reading = async () => {
    for await (const _ of store.read(key, { start: 0, size: 100 }));
  }
  await expect(reading()).rejects.toThrow('ends at byte 40')
})

/** Sets how long a sender may stop sending while no other sender waits for it, for one test. */
function setTimeoutAlone(ms: number) {
  const { alone } = senderTimeoutMs
  senderTimeoutMs.alone = ms
  onTestFinished(() => {
    senderTimeoutMs.alone = alone
  })
}

test('a sender that stops sending is disconnected with 408', async () => {
  setTimeoutAlone(1_500)
  const { url, bytes } = await startedChunk('stalled-alone')
  const sender = stalledSender(url, bytes.subarray(0, 10), bytes.length)
  const answer = await sender.answer
  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  expect(answer).toContain('{"detail":"nothing was sent for too long')
  expect(sender.tookMs()).toBeGreaterThan(1_400)
})

test('a sender that stops sending does not prevent another from sending the same chunk', async () => {
  setTimeoutAlone(3_600_000)
  const { key, layout, url, bytes } = await startedChunk('stalled-before-another')
  const stalled = stalledSender(url, bytes.subarray(0, 10), bytes.length)
  await expect.poll(() => store.budget.transfers()).toBe(1)
  const sent = await fetch(url, { method: 'PUT', body: bytes })
  expect(sent.status).toBe(200)
  expect(await stalled.answer).toMatch(/^HTTP\/1\.1 408 /)
  expect(await store.listStoredChunks(toUpload(key), layout)).toEqual(new Set([0]))
})

test('a sender that pauses holds no memory', async () => {
  const bytes = new Uint8Array(900_000).fill(1)
  const { key, url } = await startedChunk('pausing', bytes)
  const sender = stalledSender(url, bytes.subarray(0, 800_000), bytes.length)
  await expect.poll(() => store.budget.transfers()).toBe(1)
  await expect.poll(async () => (await stat(uploadPath(key))).blocks).toBeGreaterThan(0)
  await expect.poll(() => store.budget.usedBytes()).toBe(0)
  expect(store.budget.transfers()).toBe(1)
  sender.send(bytes.subarray(800_000))
  expect(await sender.answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(store.budget.transfers()).toBe(0)
})

test('a slow sender is not disconnected, even if another one is waiting', async () => {
  const { url, bytes } = await startedChunk('slow')
  const slow = stalledSender(url, bytes.subarray(0, 10), bytes.length)
  const other = fetch(url, { method: 'PUT', body: bytes })
  for (let at = 10; at < bytes.length; at += 10) {
    await sleep(50)
    slow.send(bytes.subarray(at, at + 10))
  }
  expect((await other).status).toBe(200)
  expect(await slow.answer).toMatch(/^HTTP\/1\.1 200 /)
})

test('a refused chunk leaves no bytes on disk', async () => {
  const { key, url, bytes } = await startedChunk('refused', new Uint8Array(5 * 1024 * 1024))
  const wrong = new Uint8Array(bytes.length).fill(1)
  expect((await fetch(url, { method: 'PUT', body: wrong })).status).toBe(400)
  expect((await stat(uploadPath(key))).blocks).toBe(0)

  const cut = stalledSender(url, bytes.subarray(0, 3 * 1024 * 1024), bytes.length)
  await expect.poll(async () => (await stat(uploadPath(key))).blocks).toBeGreaterThan(4_000)
  cut.end()
  await expect(cut.answer).rejects.toThrow('Premature close')
  await expect.poll(async () => (await stat(uploadPath(key))).blocks).toBe(0)
  expect((await fetch(url, { method: 'PUT', body: bytes })).status).toBe(200)
})

test('a sender to a removed upload is disconnected, and the disk blocks of the upload are freed', async () => {
  const { key, url, bytes } = await startedChunk('removed', new Uint8Array(5 * 1024 * 1024))
  const sender = stalledSender(url, bytes.subarray(0, 3 * 1024 * 1024), bytes.length)
  await expect.poll(async () => (await stat(uploadPath(key))).blocks).toBeGreaterThan(4_000)
  await store.remove(key)
  expect(await openFiles()).not.toContainEqual(expect.stringContaining(key))
  expect(await sender.answer).toMatch(/^HTTP\/1\.1 409 .*no longer open/s)
})

test('a chunk map left by a crash is listed and can be removed; a probe file is not listed', async () => {
  const { key, layout } = await startedChunk('whole')
  const uploads = join(directory, 'uploads')
  for (const name of ['never-came.chunks', '.probe']) await writeFile(join(uploads, name), '\0')
  const listed = []
  for await (const entry of store.list()) listed.push(entry)
  expect(listed).toContainEqual({ key: 'never-came', isUpload: true, sizeBytes: 0 })
  expect(listed.filter((entry) => entry.key === key)).toHaveLength(1)
  expect(listed).not.toContainEqual(expect.objectContaining({ key: '.probe' }))
  await store.remove('never-came')
  await store.check()
  expect(await readdir(uploads)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/never|probe/)]),
  )

  await store.finishUpload(toUpload(key), layout)
  await writeFile(join(uploads, `${key}.chunks`), '\0') // as if a crash had prevented the removal after the rename
  await store.finishUpload(toUpload(key), layout)
  expect(await readdir(uploads)).not.toContain(`${key}.chunks`)
})

test.skipIf(!isAbleToMountImages())(
  'a finished upload leaves no chunk map if the disk fails right afterward',
  async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'disk')
    using disk = mountImage(join(folder, 'image'), path)
    const store = await openDiskStore({ directory: path, signingKey: 'a key', baseUrl: () => '' })
    const [upload, layout] = [toUpload('finished'), { sizeBytes: 5, chunkSize: 5 }]
    await store.startUpload(upload, layout)
    await store.finishUpload(upload, layout)
    await store.close()
    disk.failWrites()
    disk.repair()
    expect(await readdir(join(path, 'objects', 'ed'))).toEqual(['finished'])
    expect(await readdir(join(path, 'uploads'))).toEqual([])
  },
)

test.skipIf(await holdsAnySize())(
  'an upload that is larger than the file system supports is refused',
  async () => {
    const layout = { sizeBytes: Number.MAX_SAFE_INTEGER, chunkSize: 2 ** 40 }
    const started = store.startUpload(toUpload('huge'), layout)
    await expect(started).rejects.toMatchObject({ code: 'too_large' })
  },
)

const toUpload = (key: string) => ({ key, uploadId: null })
const uploadPath = (key: string) => join(directory, 'uploads', key)

/** Lists the files that this process has open (Linux only). */
async function openFiles(): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd')
  const paths = descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''))
  return Promise.all(paths)
}

/** Starts an upload of one chunk, and returns the URL to which the chunk must be sent. */
async function startedChunk(key: string, bytes = new Uint8Array(100).fill(key.length)) {
  const layout = { sizeBytes: bytes.length, chunkSize: bytes.length }
  await store.startUpload(toUpload(key), layout)
  const hash = createHash('sha256').update(bytes).digest('hex')
  const chunk = { index: 0, hash, start: 0, size: bytes.length }
  const { url } = store.presignChunkUpload(toUpload(key), chunk, new Date(Date.now() + 60_000))
  return { key, layout, bytes, url }
}

/** Connects a sender that declares `sizeBytes` bytes and then stalls after sending `first`. `send` sends more bytes. */
function stalledSender(url: string, first: Uint8Array, sizeBytes: number) {
  const { hostname, port, pathname, search } = new URL(url)
  const socket = connect(Number(port), hostname)
  const startedAt = performance.now()
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: ${sizeBytes}\r\n`)
  socket.write('Connection: close\r\n\r\n')
  socket.write(first)
  return {
    send: (bytes: Uint8Array) => socket.write(bytes),
    end: () => socket.destroy(),
    answer: text(socket),
    tookMs: () => performance.now() - startedAt,
  }
}

/** Whether the file system allows files of up to `Number.MAX_SAFE_INTEGER` bytes, as tmpfs does. */
async function holdsAnySize(): Promise<boolean> {
  const file = await open(join(directory, 'probe'), 'w')
  try {
    await file.truncate(Number.MAX_SAFE_INTEGER)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EFBIG') throw error
    return false
  } finally {
    await file.close()
    await rm(join(directory, 'probe'))
  }
}
