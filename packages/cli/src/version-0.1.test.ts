/** Tests commands with a `SHOAL_HOME` from version 0.1 in which a pull and a push were killed halfway. */
import { createHash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture } from '../../../testing/version-0.1/fixture.ts'
import { openFixture } from '../../../testing/version-0.1/open-fixture.ts'
import { atTerminal, controlD } from './testing/at-terminal.ts'
import { type RealRegistry, realRegistry } from './testing/real-registry.ts'
import { scriptedDaemon } from './testing/scripted-daemon.ts'
import { shoalHere } from './testing/shoal-here.ts'

const stack = new AsyncDisposableStack()
let opened: Awaited<ReturnType<typeof openFixture>>
let registry: RealRegistry

beforeAll(async () => {
  opened = stack.use(await openFixture())
  registry = stack.use(await realRegistry({ dataDirectory: opened.data }))
  await opened.moveHome(registry.url)
})
afterAll(() => stack.disposeAsync())

/** Runs a command, which must succeed, and returns its output. */
async function shoal(...words: string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await shoalHere(words, { home: opened.home })
  expect(exitCode, stderr).toBe(0)
  return stdout.trim()
}

const hashFile = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

async function publishedHash(model: string): Promise<string | undefined> {
  const [file] = await registry.listFiles(model)
  return file?.sha256_hash
}

/** The number of bytes of model files that the registry has sent since it started. */
async function bytesSent(): Promise<number> {
  const metrics = await (await fetch(`${registry.url}/metrics`)).text()
  return Number(/^shoal_blob_bytes_sent_total (\d+)$/m.exec(metrics)?.[1])
}

test.for(Object.entries(fixture.settings))('the setting %s is still %s', async ([name, value]) => {
  expect(await shoal('config', 'get', name)).toBe(name === 'registry' ? registry.url : value)
})

test('a session is still valid', async () => {
  expect(JSON.parse(await shoal('whoami', '--json'))).toMatchObject({ username: 'ana' })
})

test('an API key still works', async () => {
  const { stdout } = await shoalHere(['show', 'reef', '--json'], {
    home: opened.home,
    env: { SHOAL_TOKEN: opened.apiKey },
  })
  expect(JSON.parse(stdout)).toMatchObject({ name: 'reef', is_public: false })
})

test('a pulled model is found and not downloaded again', async () => {
  const before = await bytesSent()
  expect(await shoal('ls')).toMatch(/tide.*Q8_0/)
  const path = await shoal('path', 'tide')
  expect(await hashFile(path)).toBe(await publishedHash('tide'))
  await shoal('verify', 'tide')
  expect(await shoal('pull', 'tide')).toBe(path)
  expect(await bytesSent()).toBe(before)
})

test('a pull resumes, and downloads only missing chunks', async () => {
  const path = join(opened.home, 'data/models/surge/surge-Q8_0.gguf')
  const journal = await readFile(join(path, '../.shoal/surge-Q8_0.gguf.journal'))
  const start = journal.indexOf('\n') + 1
  const written = [0, 1, 2].map((chunk) => journal.readInt32LE(start + 4 * chunk))
  const before = await bytesSent()
  expect(await shoal('pull', 'surge')).toBe(path)
  expect(await hashFile(path)).toBe(await publishedHash('surge'))
  const [file] = await registry.listFiles('surge')
  const missing = (file?.file_size_bytes ?? 0) - written.reduce((sum, bytes) => sum + bytes, 0)
  expect(written).toEqual([fixture.chunkSize, expect.any(Number), 0])
  await expect.poll(async () => (await bytesSent()) - before).toBe(missing)
})

test('a push resumes, and sends only missing chunks', async () => {
  const sent: string[] = []
  const onRequest = (message: unknown) => {
    const { request } = message as { request: IncomingMessage }
    if (request.method === 'PUT') sent.push(request.url ?? '')
  }
  subscribe('http.server.request.start', onRequest)
  const path = join(opened.files, 'gale-Q8_0.gguf')
  await shoal('push', path, '--name', 'gale')
  unsubscribe('http.server.request.start', onRequest)
  expect(sent).toEqual([expect.stringContaining('partNumber=1&')])
  expect(await publishedHash('gale')).toBe(await hashFile(path))
})

test('a saved conversation is loaded', async () => {
  await using daemon = await scriptedDaemon()
  const person = atTerminal(['run', 'shoal-nano'], {
    home: opened.home,
    env: { SHOAL_INFERENCE: daemon.url },
  })
  await person.prompted()
  person.type('/load sea')
  expect((await person.prompted()).stderr).toContain('Loaded 2 messages.')
  person.press(controlD)
  await person.outcome
})

test('the log of the last daemon is found, and its daemon.json does not count as a running daemon', async () => {
  expect(await shoal('logs')).toContain('model loaded')
  const { stderr, exitCode } = await shoalHere(['ps'], { home: opened.home })
  expect(exitCode).toBe(6)
  expect(stderr).toContain('daemon')
})
