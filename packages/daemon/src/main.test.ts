import dns from 'node:dns'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import { slowTest } from '../../../testing/slow-test.ts'
import { startChildRuntime } from './runtime/process/child-runtime.ts'
import type { StartRuntime } from './runtime/runtime.ts'
import { postJson } from './testing/post-json.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'
import { startTestDaemon, useTestDaemon } from './testing/test-daemon.ts'

const story = [{ role: 'user', content: 'Tell me a story' }]

function ask(url: string, body: object = {}, signal?: AbortSignal) {
  const request = { model: 'shoal-tiny', messages: story, temperature: 0, ...body }
  return postJson(`${url}/v1/chat/completions`, request, signal && { signal })
}

async function gauge(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}

/** The real runtime, with the IDs of the processes that it has started. */
function watchedRuntime() {
  const pids: number[] = []
  const start: StartRuntime = async (options) => {
    const runtime = await startChildRuntime(options)
    pids.push(runtime.pid)
    return runtime
  }
  return { start, pids }
}

slowTest('after 200 clients have disconnected during a stream, no slot is in use', async () => {
  const { url } = await useTestDaemon({ queueLength: 256 })
  await ask(url, { max_tokens: 1 })
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const leaving = new AbortController()
      const response = await ask(url, { stream: true, max_tokens: 400 }, leaving.signal)
      const reader = response.body?.getReader()
      for (let part = 0; part < index % 3; part += 1) await reader?.read()
      leaving.abort()
    }),
  )
  await expect.poll(() => gauge(url, 'shoal_daemon_model_requests{model="shoal-tiny"}')).toBe(0)
  const answer = await (await ask(url, { max_tokens: 5 })).json()
  expect(answer).toMatchObject({ usage: { completion_tokens: 5 } })
})

test("if a model's process is killed, its stream ends with an error, and the next request succeeds", async () => {
  const { start, pids } = watchedRuntime()
  const { url } = await useTestDaemon({}, start)
  const response = await ask(url, { stream: true, max_tokens: 400, n: 4 })
  let text = ''
  let isKilled = false
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part
    if (!isKilled && /"content":"[^"]/.test(text)) isKilled = process.kill(pids[0] ?? 0, 'SIGKILL')
  }
  const events = text.trimEnd().split('\n\n')
  expect(JSON.parse(events.at(-1)?.slice('data: '.length) ?? '')).toMatchObject({
    error: { code: 'model_lost' },
  })
  const next = await ask(url, { max_tokens: 3 })
  expect(await next.json()).toMatchObject({ usage: { completion_tokens: 3 } })
})

test('a daemon that shuts down finishes streams in progress, accepts no new ones, and leaves no process', async () => {
  const { start, pids } = watchedRuntime()
  const daemon = await startTestDaemon({}, start)
  const response = await ask(daemon.url, { stream: true, max_tokens: 60, n: 4 })
  const closing = daemon.close()
  const text = await response.text()
  expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
  await closing
  await expect(ask(daemon.url)).rejects.toThrow()
  expect(pids).toHaveLength(1)
  expect(() => process.kill(pids[0] ?? 0, 0)).toThrow('ESRCH')
})

test('damaged files and missing files cause different errors', async () => {
  const { url, folder } = await useTestDaemon()
  const good = readFileSync(join(folder, 'shoal-nano', 'shoal-nano-Q8_0.gguf'))
  const put = (name: string, bytes: Uint8Array) => {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, `${name}.gguf`), bytes)
  }
  put('no-header', good.subarray(0, 5_000))
  put('half', good.subarray(0, good.length / 2))
  put('part-00001-of-00002', good)
  const fetchRefusal = async (model: string) => {
    const response = await ask(url, { model })
    const { detail } = (await response.json()) as { detail: string }
    return `${response.status} ${detail}`
  }
  expect(await fetchRefusal('no-header')).toMatch(/^400 no-header\.gguf cannot be read: /)
  expect(await fetchRefusal('half')).toMatch(/^400 half.* cannot be (read|loaded): /)
  expect(await fetchRefusal('part-00001-of-00002')).toMatch(/^400 some parts of /)
  expect(await fetchRefusal('nobody-7b')).toMatch(/^404 /)
  expect((await ask(url, { model: 'shoal-nano', max_tokens: 1 })).status).toBe(200)
})

test('a daemon that cannot start because its port is in use leaves nothing open', async () => {
  const { port } = await useTestDaemon()
  const threads: Worker[] = []
  const note = (thread: Worker) => threads.push(thread)
  process.on('worker', note)
  onTestFinished(() => {
    process.off('worker', note)
  })
  using folder = temporaryFolder()
  const log = { file: join(folder.path, 'daemon.log') }
  const openLogs = process.listenerCount('exit') // each open log has an `exit` listener, which writes its last lines
  await expect(startTestDaemon({ port, sharing: {}, log })).rejects.toThrow('EADDRINUSE')
  expect(threads.map(({ threadId }) => threadId)).toEqual([-1])
  expect(process.listenerCount('exit')).toBe(openLogs)
})

/** Makes `dns.lookup` return this address for every name. */
function resolveAllTo(address: string) {
  const lookup = vi
    .spyOn(dns, 'lookup')
    .mockImplementation(((
      _host: string,
      _options: object,
      answer: (error: null, addresses: dns.LookupAddress[]) => void,
    ) => answer(null, [{ address, family: 4 }])) as never)
  onTestFinished(() => lookup.mockRestore())
}

test('a name under localhost requires a key if it resolves to an address that other machines can reach', async () => {
  resolveAllTo('0.0.0.0')
  const host = 'foo.localhost'
  await expect(startTestDaemon({ host })).rejects.toThrow('foo.localhost resolves to 0.0.0.0')
  expect((await useTestDaemon({ host, apiKey: 'k' })).needsKey).toBe(true)
  resolveAllTo('127.0.0.1')
  expect((await useTestDaemon({ host })).needsKey).toBe(false)
})
