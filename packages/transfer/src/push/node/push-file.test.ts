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

/** Chunks of 16 MiB, as the contract has them: three and a bit. */
const file = syntheticFile(48 * mebibyte + 345, 16 * mebibyte)

async function pushScene() {
  const registry = await startScriptedRegistry()
  onTestFinished(() => registry.close())
  const path = join(temporaryDirectory(), 'tiny.Q8_0.gguf')
  writeFileSync(path, file.bytes)
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
  const { registry, push, events, types } = await pushScene()
  expect(await push()).toMatchObject({
    status: 'ready',
    filename: 'tiny.Q8_0.gguf',
    sha256_hash: file.sha256,
    chunk_size: 16 * mebibyte,
  })
  expect(registry.puts.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3])
  const parts = [...registry.stored].sort(([one], [other]) => one - other)
  expect(Buffer.concat(parts.map(([, bytes]) => bytes)).equals(file.bytes)).toBe(true)
  expect(types()).toEqual(['hashing', 'uploading', 'processing', 'done'])
  const sent = events.flatMap((event) => (event.type === 'uploading' ? [event.bytesDone] : []))
  expect(sent).toEqual(sent.toSorted((one, other) => one - other))
  expect(sent.at(-1)).toBe(file.bytes.length)
})

test('a file that is ready already is not sent', async () => {
  const { registry, push } = await pushScene()
  await push()
  registry.puts.length = 0
  expect(await push()).toMatchObject({ status: 'ready' })
  expect(registry.puts).toEqual([])
})

test('a file that is being processed is waited for', async () => {
  const { registry, push } = await pushScene()
  await push()
  registry.puts.length = 0
  setStatus(registry, 'processing', null)
  setTimeout(() => setStatus(registry, 'ready', null), 200)
  expect(await push()).toMatchObject({ status: 'ready' })
  expect(registry.puts).toEqual([])
})

test('a push that was stopped goes on with what the registry misses', async () => {
  const { registry, push, events } = await pushScene()
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
  ['a full hour', { status: 429, headers: { 'retry-after': '1' } }],
])('after %s the chunk is sent again', async (_, wrong) => {
  const { registry, push } = await pushScene()
  registry.script = once(1, wrong)
  expect(await push()).toMatchObject({ status: 'ready' })
  expect(registry.puts).toHaveLength(5)
})

test('an upload URL that has expired is asked for anew', async () => {
  const { registry, push } = await pushScene()
  registry.script = once(2, { status: 403, body: '<Error>expired</Error>' })
  await push()
  const [first, second] = registry.puts.filter(({ index }) => index === 2)
  expect(second?.url).not.toBe(first?.url)
})

test('a chunk that is damaged on its way is sent again', async () => {
  const { registry, push, events } = await pushScene()
  registry.script = once(2, { flip: true })
  await push()
  expect(events).toContainEqual({ type: 'bad-chunk', index: 2 })
  expect(registry.puts).toHaveLength(5)
})

test('a file that changes while it is sent is not published', async () => {
  const { registry, push, path } = await pushScene()
  registry.script = ({ index }) => {
    if (index === 1) writeFileSync(path, Buffer.alloc(file.bytes.length))
    return undefined
  }
  await expect(push({ connections: 1 })).rejects.toMatchObject({ code: 'file_changed' })
})

test('a file that grows while it is sent is not published', async () => {
  const { registry, push, path } = await pushScene()
  registry.script = ({ index }) => {
    if (index === 1) appendFileSync(path, 'more')
    return undefined
  }
  await expect(push()).rejects.toMatchObject({ code: 'file_changed' })
  expect(registry.file?.status).toBe('uploading')
})

test.each([413, 507])(
  'what the registry has no room for fails with its words (%d)',
  async (status) => {
    const { registry, push } = await pushScene()
    const body = JSON.stringify({ detail: 'the quota is used up', code: 'quota' })
    registry.script = () => ({ status, body })
    const failure = await push().catch((error) => error)
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure).toMatchObject({ status, message: 'the quota is used up' })
  },
)

test('a registry whose disk is full is not waited for', async () => {
  const { registry, push } = await pushScene()
  const body = JSON.stringify({ detail: 'the disk is full', code: 'storage_full' })
  registry.script = () => ({ status: 503, body, headers: { 'retry-after': '60' } })
  await expect(push()).rejects.toThrow('the disk is full')
})

test('an answer before the chunk was sent whole is heard', async () => {
  const { registry, push } = await pushScene()
  const body = JSON.stringify({ detail: 'the quota is used up' })
  registry.script = () => ({ status: 413, body, isEarly: true })
  await expect(push()).rejects.toThrow('the quota is used up')
})

test('chunks that the registry finds wrong in its store are sent again', async () => {
  const { registry, push } = await pushScene()
  let rounds = 0
  registry.process = () => {
    rounds += 1
    if (rounds > 1) return setStatus(registry, 'ready', null)
    registry.stored.delete(2)
    setStatus(registry, 'uploading', 'chunk 2 was damaged in the store')
  }
  expect(await push()).toMatchObject({ status: 'ready' })
  expect(registry.puts.map(({ index }) => index).sort()).toEqual([0, 1, 2, 2, 3])
})

test('a store that keeps damaging a chunk is not fed forever', async () => {
  const { registry, push } = await pushScene()
  registry.process = () => {
    registry.stored.delete(2)
    setStatus(registry, 'uploading', 'chunk 2 was damaged in the store')
  }
  await expect(push()).rejects.toMatchObject({ code: 'bytes_refused' })
})

test('a file that the registry refuses fails with its reason', async () => {
  const { registry, push } = await pushScene()
  registry.process = () => setStatus(registry, 'failed', 'no GGUF header')
  await expect(push()).rejects.toThrow('no GGUF header')
})

test('a file that is refused while the answer is lost fails with its reason, too', async () => {
  const { registry, push } = await pushScene()
  registry.losesFirstComplete = true
  registry.process = () => setStatus(registry, 'failed', 'no GGUF header')
  await expect(push()).rejects.toThrow(fileRefused('tiny.Q8_0.gguf: no GGUF header'))
})

test('a registry that stays away ends the push', async () => {
  const { registry, push } = await pushScene()
  registry.script = () => ({ reset: true })
  await expect(push({ timeoutMs: 500 })).rejects.toThrow(NetworkError)
})
