import { readFileSync } from 'node:fs'
import { ApiError, NetworkError } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { filterEvents, type PullScene, pullScene } from '../testing/pull-scene.ts'
import { inThreads, quickTuning, relaxedTuning } from '../testing/quick-tuning.ts'
import type { BytesRequest, Misbehaviour } from '../testing/scripted-origin.ts'
import { smallChunk, syntheticFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(12 * smallChunk + 345)
const getHost = ({ origin }: PullScene) => new URL(origin.url).host

const once =
  (index: number, wrong: Misbehaviour) =>
  (request: BytesRequest): Misbehaviour | undefined =>
    request.index === index && request.before === 0 ? wrong : undefined

test('a bad chunk is reported, and only this chunk is downloaded again, from another URL', async () => {
  const scene = await pullScene(file)
  scene.origin.script = once(5, { flipByteAt: 70_000 })
  const pulled = await scene.pull({ tuning: { ...relaxedTuning, ...inThreads } })
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(pulled.droppedChunks).toEqual([{ source: getHost(scene), count: 1 }])
  expect(filterEvents(scene.events, 'bad-chunk')).toEqual([
    { type: 'bad-chunk', index: 5, source: getHost(scene) },
  ])
  const ofChunk = scene.origin.requests.filter(({ index }) => index === 5)
  expect(ofChunk.map(({ way }) => way)).toEqual(['direct', 'file'])
  expect(scene.origin.requests).toHaveLength(file.chunks.length + 1)
})

test('if a chunk is always bad, the pull fails, reports the chunk and keeps the other chunks', async () => {
  const scene = await pullScene(file)
  scene.origin.script = ({ index }) => (index === 12 ? { flipByteAt: 0 } : undefined)
  const failure = await scene.pull({ connections: 1 }).catch((error) => error)
  expect(failure).toMatchObject({
    code: 'verification_failed',
    details: { chunkIndex: 12, expected: file.chunks[12]?.hash },
  })
  expect(filterEvents(scene.events, 'bad-chunk')).toHaveLength(5)

  scene.origin.script = () => undefined
  expect(await scene.pull()).toMatchObject({ resumedBytes: 12 * smallChunk, downloadedBytes: 345 })
})

test.each<[string, Misbehaviour, number]>([
  ['cuts off the body', { cutAfter: 30_000 }, 60_000],
  ['stops sending', { stallAfter: 30_000 }, 1_000],
  ['resets the connection', { resetAfter: 30_000 }, 60_000],
])('if a server %s, only the rest of the chunk is requested', async (_, wrong, stallMs) => {
  const scene = await pullScene(file)
  scene.origin.script = once(3, wrong)
  const pulled = await scene.pull({ tuning: { ...relaxedTuning, ...inThreads, stallMs } })
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  const second = scene.origin.requests.find(({ index, before }) => index === 3 && before === 1)
  expect(second?.start).toBeGreaterThan(3 * smallChunk)
  expect(pulled.downloadedBytes).toBe(file.bytes.length)
})

test.each<[string, Misbehaviour]>([
  ['500', { status: 500 }],
  ['503 without Retry-After', { status: 503 }],
  ['a web page with status 200', { status: 200, headers: { 'content-type': 'text/html' } }],
  ['the whole file instead of the range', { wholeFile: true }],
  ['a compressed range', { status: 206, headers: { 'content-encoding': 'gzip' } }],
  ['a different range', { status: 206, headers: { 'content-range': 'bytes 0-9/10' } }],
  ['206 without Content-Range', { status: 206, body: 'x' }],
  ['a redirect to a file URL', { status: 302, headers: { location: 'file:///etc/passwd' } }],
])('after %s, the chunk is still downloaded', async (_, wrong) => {
  const scene = await pullScene(file)
  scene.origin.script = once(4, wrong)
  await scene.pull()
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
})

test('when the direct URL has expired, the hash URLs are used, and no second download is counted', async () => {
  const scene = await pullScene(file)
  scene.origin.script = ({ way }) => (way === 'direct' ? { status: 403 } : undefined)
  await scene.pull()
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(scene.origin.downloads).toBe(1)
})

test('if the URLs of the whole file are refused, each chunk is downloaded from the URL with its own hash', async () => {
  const scene = await pullScene(file)
  scene.origin.script = ({ way }) => (way === 'chunk' ? undefined : { status: 403 })
  await scene.pull()
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
})

test("if every URL is refused, the pull fails with the status and the store's reason", async () => {
  const scene = await pullScene(file)
  const body = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>'
  scene.origin.script = () => ({ status: 403, body })
  const tuning = { ...quickTuning, ...inThreads }
  const failure = await scene.pull({ tuning }).catch((error) => error)
  expect(failure).toMatchObject({ code: 'bytes_refused', details: { status: 403 } })
  expect(failure.message).toMatch(/ returned status 403 “AccessDenied: Request has expired”$/)
})

test('if the file is deleted during the pull, the pull fails immediately', async () => {
  const scene = await pullScene(file)
  scene.origin.script = ({ index }) => {
    if (index < 6) return undefined
    scene.origin.isDeleted = true
    return { status: 404 }
  }
  const failure = await scene.pull().catch((error) => error)
  expect(failure).toBeInstanceOf(ApiError)
  expect(failure).toMatchObject({ status: 404, message: 'no such file' })
})

test('a wait requested by the registry is respected and reported', async () => {
  const scene = await pullScene(file)
  scene.origin.script = once(2, { status: 429, headers: { 'retry-after': '1' } })
  const startedAt = performance.now()
  await scene.pull({ tuning: relaxedTuning })
  expect(performance.now() - startedAt).toBeGreaterThan(990)
  const [wait] = filterEvents(scene.events, 'waiting')
  expect(wait).toMatchObject({ seconds: 1, reason: expect.stringContaining('429') })
})

test('a pull waits for a registry that is briefly offline, and reports the wait', async () => {
  const scene = await pullScene(file)
  const gone = Promise.withResolvers<void>()
  let isGoing = false
  scene.origin.script = ({ index }) => {
    if (index >= 6 && !isGoing) {
      isGoing = true
      scene.origin.close().then(gone.resolve, gone.reject)
    }
    return isGoing ? { resetAfter: 1000 } : undefined
  }
  const pulling = scene.pull({ tuning: relaxedTuning })
  await gone.promise
  const waits = () => filterEvents(scene.events, 'waiting').length
  await expect.poll(waits).toBeGreaterThan(0)
  scene.origin.script = () => undefined
  await scene.origin.open()
  await pulling
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(scene.origin.downloads).toBe(1)
})

test('if the registry stays offline, the pull fails, and the next pull resumes the download', async () => {
  const scene = await pullScene(file)
  scene.origin.script = ({ index }) => (index >= 6 ? { resetAfter: 0 } : undefined)
  const tuning = { ...quickTuning, timeoutMs: 1500 }
  await expect(scene.pull({ tuning })).rejects.toThrow(NetworkError)
  scene.origin.script = () => undefined
  const pulled = await scene.pull()
  expect(pulled.resumedBytes).toBe(6 * smallChunk)
})
