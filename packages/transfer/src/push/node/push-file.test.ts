import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApiError, NetworkError, registryClient } from '@shoal/protocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { fileRefused } from '../../errors.ts'
import type { PushEvent } from '../../events.ts'
import { temporaryDirectory } from '../../testing/pull-scene.ts'
import {
  type PutMisbehaviour,
  type PutRequest,
  setStatus,
  startScriptedRegistry,
} from '../../testing/scripted-registry.ts'
import { mebibyte, syntheticFile } from '../../testing/synthetic-file.ts'
import { type PushOptions, pushFile } from './push-file.ts'

/** A chunk of 16 MiB and a small one. */
const file = syntheticFile(16 * mebibyte + 345, 16 * mebibyte)
/** More chunks than the scripted registry lists at first. */
const longFile = syntheticFile(48 * mebibyte + 345, 16 * mebibyte)

async function pushScene(of = file) {
  const registry = await startScriptedRegistry()
  onTestFinished(() => registry.close())
  const path = join(temporaryDirectory(), 'tiny.Q8_0.gguf')
  writeFileSync(path, of.bytes)
  const events: PushEvent[] = []
  const push = (changes: Partial<PushOptions> = {}) =>
    pushFile({
      client: registryClient({ baseUrl: registry.url }),
      modelName: 'tiny',
      path,
      onEvent: (event) => events.push(event),
      ...changes,
    })
  const types = () => [...new Set(events.map(({ type }) => type))]
  return { registry, path, events, push, types }
}

const once =
  (index: number, wrong: PutMisbehaviour) =>
  (request: PutRequest): PutMisbehaviour | undefined =>
    request.index === index && request.before === 0 ? wrong : undefined

test('every chunk is sent once, and the push ends when the file is ready', async () => {
  const { registry, push, events, types } = await pushScene(longFile)
  expect(await push()).toMatchObject({
    status: 'ready',
    filename: 'tiny.Q8_0.gguf',
    sha256_hash: longFile.sha256,
    chunk_size: 16 * mebibyte,
  })
  expect(registry.puts.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3])
  const parts = [...registry.stored].sort(([one], [other]) => one - other)
  expect(Buffer.concat(parts.map(([, bytes]) => bytes)).equals(longFile.bytes)).toBe(true)
  expect(types()).toEqual(['hashing', 'uploading', 'processing', 'done'])
  const sent = events.flatMap((event) => (event.type === 'uploading' ? [event.bytesDone] : []))
  expect(sent).toEqual(sent.toSorted((one, other) => one - other))
  expect(sent.at(-1)).toBe(longFile.bytes.length)
})

test('a file that is already ready is not sent', async () => {
  const { registry, push } = await pushScene()
  await push()
  registry.puts.length = 0
  expect(await push()).toMatchObject({ status: 'ready' })
  expect(registry.puts).toEqual([])
})

test('a push waits for a file that is being processed', async () => {
  const { registry, push } = await pushScene()
  await push()
  registry.puts.length = 0
  setStatus(registry, 'processing', null)
  const onEvent = ({ type }: PushEvent) => {
    if (type === 'processing') setStatus(registry, 'ready', null)
  }
  expect(await push({ onEvent })).toMatchObject({ status: 'ready' })
  expect(registry.puts).toEqual([])
})

test('a stopped push resumes with the chunks that the registry lacks', async () => {
  const { registry, push, events } = await pushScene(longFile)
  const abort = new AbortController()
  registry.script = ({ index }) => {
    if (index < 3) return undefined
    abort.abort(new Error('stopped'))
    return { reset: true }
  }
  await expect(push({ signal: abort.signal, connections: 1 })).rejects.toThrow('stopped')
  registry.script = () => undefined
  registry.puts.length = 0
  events.length = 0
  await push()
  expect(registry.puts.map(({ index }) => index)).toEqual([3])
  expect(events).toContainEqual({ type: 'resumed', bytes: 48 * mebibyte })
})

test.each<[string, PutMisbehaviour]>([
  ['a lost connection', { reset: true }],
  ['a 500', { status: 500 }],
  ['a busy store', { status: 503, headers: { 'retry-after': '1' } }],
  ['an exceeded rate limit', { status: 429, headers: { 'retry-after': '1' } }],
])('after %s, the chunk is sent again', async (_, wrong) => {
  const { registry, push } = await pushScene()
  registry.script = once(1, wrong)
  expect(await push()).toMatchObject({ status: 'ready' })
  expect(registry.puts).toHaveLength(3)
})

test('a new URL is requested when an upload URL has expired', async () => {
  const { registry, push } = await pushScene()
  registry.script = once(1, { status: 403, body: '<Error>expired</Error>' })
  await push()
  const [first, second] = registry.puts.filter(({ index }) => index === 1)
  expect(second?.url).not.toBe(first?.url)
})

test('a chunk damaged in transit is sent again', async () => {
  const { registry, push, events } = await pushScene()
  registry.script = once(1, { flip: true })
  await push()
  expect(events).toContainEqual({ type: 'bad-chunk', index: 1 })
  expect(registry.puts).toHaveLength(3)
})

test('a file that changes during the push is not published', async () => {
  const { registry, push, path } = await pushScene()
  registry.script = ({ index }) => {
    if (index === 1) writeFileSync(path, Buffer.alloc(file.bytes.length))
    return undefined
  }
  await expect(push({ connections: 1 })).rejects.toMatchObject({ code: 'file_changed' })
})

test('a file that grows during the push is not published', async () => {
  const { registry, push, path } = await pushScene()
  registry.script = ({ index }) => {
    if (index === 1) appendFileSync(path, 'more')
    return undefined
  }
  await expect(push()).rejects.toMatchObject({ code: 'file_changed' })
  expect(registry.file?.status).toBe('uploading')
})

test.each([413, 507])(
  'a push of a file that is too large for the registry fails with the registry’s message (%d)',
  async (status) => {
    const { registry, push } = await pushScene()
    const body = JSON.stringify({ detail: 'the quota is used up', code: 'quota' })
    registry.script = () => ({ status, body })
    const failure = await push().catch((error) => error)
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure).toMatchObject({ status, message: 'the quota is used up' })
  },
)

test('a push does not wait for a registry whose disk is full', async () => {
  const { registry, push } = await pushScene()
  const body = JSON.stringify({ detail: 'the disk is full', code: 'storage_full' })
  registry.script = () => ({ status: 503, body, headers: { 'retry-after': '60' } })
  await expect(push()).rejects.toThrow('the disk is full')
})

test('a response that arrives before the whole chunk is sent is handled', async () => {
  const { registry, push } = await pushScene()
  const body = JSON.stringify({ detail: 'the quota is used up' })
  registry.script = () => ({ status: 413, body, isEarly: true })
  await expect(push()).rejects.toThrow('the quota is used up')
})

test('chunks that the registry finds damaged in its store are sent again', async () => {
  const { registry, push } = await pushScene()
  let rounds = 0
  registry.process = () => {
    rounds += 1
    if (rounds > 1) return setStatus(registry, 'ready', null)
    registry.stored.delete(1)
    setStatus(registry, 'uploading', 'chunk 1 was damaged in the store')
  }
  expect(await push()).toMatchObject({ status: 'ready' })
  expect(registry.puts.map(({ index }) => index).sort()).toEqual([0, 1, 1])
})

test('the push fails if the store keeps damaging a chunk', async () => {
  const { registry, push } = await pushScene()
  registry.process = () => {
    registry.stored.delete(1)
    setStatus(registry, 'uploading', 'chunk 1 was damaged in the store')
  }
  await expect(push()).rejects.toMatchObject({ code: 'bytes_refused' })
})

test("a push of a file that the registry rejects fails with the registry's reason", async () => {
  const { registry, push } = await pushScene()
  registry.process = () => setStatus(registry, 'failed', 'no GGUF header')
  await expect(push()).rejects.toThrow('no GGUF header')
})

test('the push of a rejected file fails with the reason even if the response is lost', async () => {
  const { registry, push } = await pushScene()
  registry.losesFirstComplete = true
  registry.process = () => setStatus(registry, 'failed', 'no GGUF header')
  await expect(push()).rejects.toThrow(fileRefused('tiny.Q8_0.gguf: no GGUF header'))
})

test('the push fails if the registry stays offline', async () => {
  const { registry, push } = await pushScene()
  registry.script = () => ({ reset: true })
  await expect(push({ timeoutMs: 500 })).rejects.toThrow(NetworkError)
})
