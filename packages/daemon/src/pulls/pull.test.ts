/** Tests pulls through Ollama's API, from a real registry. */
import { existsSync, readdirSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { formatMemory } from '@shoal/core/units'
import { Ollama, type ProgressResponse } from 'ollama'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import type { DaemonConfig } from '../config.ts'
import { addShards } from '../testing/gguf-of-test.ts'
import { haltingRegistry } from '../testing/halting-registry.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'
import { startTestRegistry } from '../testing/test-registry.ts'

const shipped = join(import.meta.dirname, '../../../../models/shoal-tiny')

async function start(address: string, more: Partial<DaemonConfig> = {}) {
  const settings = { registry: { address, token: undefined }, ...more }
  const daemon = await useTestDaemon(settings, scriptedRuntime())
  const ollama = new Ollama({ host: daemon.url })
  return {
    ...daemon,
    ollama,
    async pull(model: string): Promise<ProgressResponse[]> {
      const lines: ProgressResponse[] = []
      for await (const line of await ollama.pull({ model, stream: true })) lines.push(line)
      return lines
    },
  }
}

/** A registry with a copy of the demo model under the name `tide`, which no local model has. */
let registry: Awaited<ReturnType<typeof startTestRegistry>>
beforeAll(async () => {
  registry = await startTestRegistry()
  for (const quantization of ['Q4_0', 'Q8_0']) {
    const path = join(shipped, `shoal-tiny-${quantization}.gguf`)
    await registry.publish('tide', path, `tide-${quantization}.gguf`)
  }
  return () => registry.close()
})

test('a pull reports its progress, and then the model is available', async () => {
  const { address } = registry
  let limited = 0
  const rateLimit = () => {
    limited += 1
    return 1e9
  }
  const { folder, ollama, pull } = await start(address, { pullLimits: () => ({ rateLimit }) })
  const lines = await pull('tide')
  expect(limited).toBeGreaterThan(0)
  expect(lines[0]).toEqual({ status: 'pulling manifest' })
  expect(lines.slice(-3).map(({ status }) => status)).toEqual([
    'verifying sha256 digest',
    'writing manifest',
    'success',
  ])
  const { size } = statSync(join(folder, 'tide', 'tide-Q8_0.gguf'))
  const progress = lines.slice(1, -3)
  expect(progress.at(-1)).toMatchObject({ total: size, completed: size })
  const [{ digest = '' } = {}] = progress
  expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
  for (const line of progress) expect(line.status).toBe(`pulling ${digest.slice(7, 19)}`)
  const completed = progress.map((line) => line.completed)
  expect(completed).toEqual(completed.toSorted((a, b) => a - b))

  const { models } = await ollama.list()
  expect(models.find(({ name }) => name === 'tide:latest')?.digest).toBe(digest.slice(7))
  expect((await ollama.generate({ model: 'tide', prompt: 'Hello' })).done).toBe(true)
})

test('a pull downloads the specified file or, by default, the best fit for the machine, and succeeds if the file is already present', async () => {
  const { address } = registry
  const { folder, ollama, pull } = await start(address)
  const here = (quantization: string) =>
    existsSync(join(folder, 'tide', `tide-${quantization}.gguf`))
  expect(await ollama.pull({ model: 'tide:q4_0' })).toEqual({ status: 'success' })
  expect([here('Q4_0'), here('Q8_0')]).toEqual([true, false])
  await pull('tide:latest')
  expect(here('Q8_0')).toBe(true)
  const again = await pull('tide')
  expect(again.at(-1)).toEqual({ status: 'success' })
  expect(again.filter(({ digest }) => digest).at(-1)?.completed).toBeGreaterThan(1_000_000)
})

test('by default, the choice of the file is based on the memory that the registry estimates for each file', async () => {
  const { address, client } = registry
  const files = await client.listFiles('tide')
  const [small = 0, large = 0] = files.map(({ memory_bytes }) => memory_bytes ?? 0)
  expect(small).toBeLessThan(large)
  const tight = await start(address, { memoryBytes: large - 1 })
  await tight.pull('tide')
  expect(readdirSync(join(tight.folder, 'tide'))).toContain('tide-Q4_0.gguf')
  const tiny = await start(address, { memoryBytes: small - 1 })
  await expect(tiny.ollama.pull({ model: 'tide' })).rejects.toMatchObject({
    status_code: 400,
    message: expect.stringContaining(
      `the smallest needs ${formatMemory(small)}; to pull it anyway, specify it as`,
    ),
  })
})

test('the error for a damaged pulled file names the file and the command that repairs it', async () => {
  const { address } = registry
  const { folder, ollama, pull } = await start(address)
  await pull('tide')
  truncateSync(join(folder, 'tide', 'tide-Q8_0.gguf'), 1000)
  await expect(ollama.pull({ model: 'tide:latest' })).rejects.toMatchObject({
    status_code: 409,
    message: expect.stringContaining('is damaged: it has changed since it was pulled'),
  })
  await expect(ollama.pull({ model: 'tide:Q8_0' })).rejects.toMatchObject({
    message: expect.stringMatching(/shoal verify --repair tide$/),
  })
})

test('two concurrent pulls of the same file share one download', async () => {
  const { address, client } = registry
  const { ollama, pull } = await start(address)
  const before = (await client.getModel('tide')).downloads
  const both = await Promise.all([pull('tide'), pull('tide:Q8_0'), ollama.pull({ model: 'tide' })])
  for (const lines of both.slice(0, 2)) {
    expect((lines as ProgressResponse[]).at(-1)).toEqual({ status: 'success' })
  }
  expect((await client.getModel('tide')).downloads).toBe(before + 1)
})

test('all parts of a model are pulled', async () => {
  using folder = temporaryFolder()
  for (const path of addShards(folder.path, 'split')) await registry.publish('split', path)
  const { ollama, pull } = await start(registry.address)
  const lines = await pull('split')
  expect(new Set(lines.flatMap(({ digest }) => digest ?? [])).size).toBe(2)
  expect((await ollama.list()).models.map(({ name }) => name)).toContain('split:latest')
})

test('a pull continues while at least one of its clients is connected, then stops, and can be resumed', async () => {
  const registry = await haltingRegistry()
  const { folder, ollama } = await start(registry.address)
  const begin = async () => {
    const stream = await ollama.pull({ model: 'slow', stream: true })
    const lines = stream[Symbol.asyncIterator]()
    let line = await lines.next()
    while (!line.value?.completed) line = await lines.next()
    return { stop: () => stream.abort(), lines }
  }
  const first = await begin()
  const second = await begin()
  expect(registry.openDownloads()).toBe(1)
  first.stop()
  const nextLine = await second.lines.next()
  expect(nextLine.value?.status).toContain('pulling')
  expect(registry.openDownloads()).toBe(1)
  second.stop()
  await expect.poll(registry.openDownloads).toBe(0)
  const path = join(folder, 'slow', 'slow-F32.gguf')
  expect(existsSync(path)).toBe(false)

  const third = await begin()
  registry.goOn()
  let last = await third.lines.next()
  for (let line = last; !line.done; line = await third.lines.next()) last = line
  expect(last.value).toEqual({ status: 'success' })
  expect(readFileSync(path).equals(registry.bytes)).toBe(true)
})

test('pulling a model that the registry lacks, or whose name is invalid, is an error', async () => {
  const { address } = registry
  const { ollama } = await start(address)
  const nobody = ollama.pull({ model: 'nobody-7b', stream: true })
  await expect(nobody).rejects.toMatchObject({
    status_code: 404,
    message: `model 'nobody-7b' not found in the registry at ${address}`,
  })
  const absent = ollama.pull({ model: 'tide:Q2_K' })
  await expect(absent).rejects.toMatchObject({
    status_code: 404,
    message: "model 'tide:Q2_K' not found; available: tide:Q4_0, tide:Q8_0",
  })
  const strange = ollama.pull({ model: '../../etc' })
  await expect(strange).rejects.toMatchObject({ status_code: 400 })
})

test('the error for a registry that is unreachable or rejects a request contains its address', async () => {
  const gone = await start('http://127.0.0.1:9')
  await expect(gone.ollama.pull({ model: 'tide' })).rejects.toMatchObject({
    status_code: 502,
    message: expect.stringMatching(
      /^no usable response from the registry at http:\/\/127\.0\.0\.1:9 \(unreachable, refused\)/,
    ),
  })
  const closed = await start(await registryThatAnswers(401, { detail: 'who are you?' }))
  await expect(closed.ollama.pull({ model: 'tide' })).rejects.toMatchObject({
    status_code: 403,
    message: expect.stringContaining('shoal login'),
  })
})

test('an untrusted registry cannot write outside of the models folder', async () => {
  const file = {
    id: crypto.randomUUID(),
    filename: '../../evil.gguf',
    quantization: 'Q8_0',
    file_size_bytes: 10,
    sha256_hash: 'a'.repeat(64),
  }
  const { ollama } = await start(await registryThatAnswers(200, [file]))
  await expect(ollama.pull({ model: 'tide' })).rejects.toMatchObject({
    status_code: 502,
    message: 'the registry lists a file whose name is not safe to write to disk',
  })
})

async function registryThatAnswers(status: number, body: object): Promise<string> {
  const server = createServer((_request, answer) => {
    answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
