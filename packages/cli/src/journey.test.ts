/** Publishes, finds and pulls a model. The registry and the programs that are killed run in their own processes. */
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { mebibyte } from '@shoal/core/units'
import { writeGgufFile } from '@shoal/model-file/testing'
import { type ModelFile, registryClient } from '@shoal/protocol/client'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freePort } from '../../../testing/free-port.ts'
import { slowTest } from '../../../testing/slow-test.ts'
import { runShoal, startShoal } from './testing/run-shoal.ts'
import { shoalHere } from './testing/shoal-here.ts'

const nano = join(import.meta.dirname, '../../../models/shoal-nano/shoal-nano-Q8_0.gguf')

let folder: string
let home: string
let port: number
let registry: Awaited<ReturnType<typeof startRegistry>>

const shoal = (words: string[], input?: string) =>
  shoalHere(words, {
    home,
    registry: `http://localhost:${port}`,
    ...(input !== undefined && { input }),
  })
const client = () => registryClient({ baseUrl: `http://localhost:${port}` })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shoal-journey-'))
  home = join(folder, 'home')
  await mkdir(home)
  port = await freePort()
  registry = await startRegistry(['up', '--no-inference'])
})

afterAll(async () => {
  registry.child.kill('SIGTERM')
  await registry.outcome
  await rm(folder, { recursive: true, force: true })
})

test('a new registry has the demo models, which can be found and pulled', async () => {
  const found = await shoal(['search', 'tiny', '--json'])
  expect(JSON.parse(found.stdout)).toContainEqual(
    expect.objectContaining({ name: 'shoal-tiny', quantizations: ['Q4_0', 'Q8_0'] }),
  )
  const pulled = await shoal(['pull', 'shoal-tiny'])
  expect(pulled.exitCode).toBe(0)
  const path = pulled.stdout.trim()
  const [file] = (await client().listFiles('shoal-tiny')).filter(
    ({ quantization }) => quantization === 'Q8_0',
  )
  expect(await computeSha256(path)).toBe(file?.sha256_hash)
  expect((await client().getModel('shoal-tiny')).downloads).toBe(1)
  expect((await shoal(['path', 'shoal-tiny'])).stdout.trim()).toBe(path)
  expect((await shoal(['verify'])).exitCode).toBe(0)
  expect((await client().getModel('shoal-tiny')).readme).toContain('Shoal Tiny')
})

test('a repeated pull finds the local file, and does not count as another download', async () => {
  const again = await shoal(['pull', 'shoal-tiny', '--json'])
  expect(JSON.parse(again.stdout)).toMatchObject({ already_there: true, downloaded_bytes: 0 })
  expect((await client().getModel('shoal-tiny')).downloads).toBe(1)
})

test("a new account can push, and the model's URL is printed on stdout", async () => {
  const registered = await shoal(
    ['register', '--username', 'ana', '--password-stdin'],
    'password of ana',
  )
  expect(registered).toMatchObject({ exitCode: 0 })
  const credentials = join(home, 'config', 'credentials.json')
  expect((await stat(credentials)).mode & 0o777).toBe(0o600)
  expect((await shoal(['whoami'])).stdout.trim()).toContain('ana')

  const file = join(folder, 'reef-Q8_0.gguf')
  await copyFile(nano, file)
  const pushed = await shoal(['push', file, '--license', 'mit', '--tag', 'sea'])
  expect(pushed.stderr).not.toContain('✗')
  expect(pushed.exitCode).toBe(0)
  expect(pushed.stdout.trim()).toBe(`http://localhost:${port}/m/reef`)
  expect(await client().getModel('reef')).toMatchObject({
    owner: 'ana',
    license: 'mit',
    tags: ['sea'],
    architecture: 'llama',
    quantizations: ['Q8_0'],
  })
  expect((await shoal(['like', 'reef'])).exitCode).toBe(0)
  expect((await client().getModel('reef')).likes).toBe(1)
  expect((await shoal(['unlike', 'reef'])).exitCode).toBe(0)
})

test('only the new API key is printed on stdout, and the key works until it is revoked', async () => {
  const made = await shoal(['keys', 'new', 'laptop'])
  const key = made.stdout.trim()
  expect(key).toMatch(/^hf_[0-9A-Za-z]{43}$/)
  const asKey = registryClient({ baseUrl: client().baseUrl, token: key })
  expect(await asKey.getMe()).toMatchObject({ username: 'ana' })
  const [{ id }] = JSON.parse((await shoal(['keys', 'ls', '--json'])).stdout)
  expect((await shoal(['keys', 'revoke', id, '-y'])).exitCode).toBe(0)
  await expect(asKey.getMe()).rejects.toMatchObject({ status: 401 })
})

test('a private model can be pulled by its owner, and is not found by others', async () => {
  const file = join(folder, 'lagoon-Q8_0.gguf')
  await copyFile(nano, file)
  expect((await shoal(['push', file, '--private'])).exitCode).toBe(0)
  expect((await shoal(['pull', 'lagoon'])).exitCode).toBe(0)
  const stranger = await shoalHere(['pull', 'lagoon'], {
    home: await mkdtemp(join(folder, 'stranger-')),
    registry: client().baseUrl,
  })
  expect(stranger.exitCode).toBe(3)
})

test('a second registry on the same data folder ends with an error message', async () => {
  const refused = await runShoal(['registry', '--port', '0', '--data', join(folder, 'data')], {
    home,
  })
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toContain('nother registry is running')
})

test('a pull resumes after its process or the registry was killed', async () => {
  const { sha256 } = await pushLarge('trench', 64 * mebibyte)
  const words = ['pull', 'trench', '--no-peers', '--limit-rate', '24MB']
  const pull = () =>
    startShoal([...words, '--json', '--progress=json'], {
      home,
      env: { SHOAL_REGISTRY: client().baseUrl },
    })
  const models = join(home, 'data', 'models', 'trench')

  const first = pull()
  await untilDownloaded(first.child, 24 * mebibyte)
  first.child.kill('SIGKILL')
  expect((await first.outcome).exitCode).toBeNull()
  expect((await readdir(models)).filter((name) => name.endsWith('.gguf'))).toEqual([])

  const second = pull()
  await untilDownloaded(second.child, 0)
  registry.child.kill('SIGKILL')
  await registry.outcome
  registry = await startRegistry(['registry'])
  const { stdout, stderr, exitCode } = await second.outcome
  expect([exitCode, stderr]).toEqual([0, expect.any(String)])
  const pulled = JSON.parse(stdout)
  expect(pulled.resumed_bytes).toBeGreaterThan(0)
  expect(await computeSha256(pulled.path)).toBe(sha256)
})

slowTest(
  'a push resumes after its process was killed, and processing after the registry was killed',
  async () => {
    const file = join(folder, 'abyss.gguf')
    await writeGgufFile(file, 160 * mebibyte, 5)
    const push = () =>
      startShoal(['push', file], { home, env: { SHOAL_REGISTRY: client().baseUrl } })
    const uploading = async (): Promise<ModelFile | undefined> => {
      const token = JSON.parse(await readFile(join(home, 'config', 'credentials.json'), 'utf8'))
      const owner = registryClient({ baseUrl: client().baseUrl, token: tokenIn(token) })
      const files = await owner.listFiles('abyss', { status: 'all' }).catch(() => [])
      return files[0]
    }

    const first = push()
    await until(async () => (await uploading())?.status === 'uploading')
    first.child.kill('SIGKILL')
    await first.outcome

    const second = push()
    await until(async () => (await uploading())?.status === 'processing')
    registry.child.kill('SIGKILL')
    await registry.outcome
    registry = await startRegistry(['registry'])
    const { exitCode, stderr } = await second.outcome
    expect([exitCode, stderr]).toEqual([0, expect.any(String)])
    expect(await uploading()).toMatchObject({
      status: 'ready',
      sha256_hash: await computeSha256(file),
    })
  },
)

test('SIGTERM shuts down a registry gracefully, with exit code 0', async () => {
  registry.child.kill('SIGTERM')
  expect((await registry.outcome).exitCode).toBe(0)
  registry = await startRegistry(['registry'])
})

/** Starts the registry with the test's port and data folder, and waits until it responds. */
async function startRegistry(words: string[]) {
  const started = startShoal([...words, '--port', String(port), '--data', join(folder, 'data')], {
    home,
  })
  await until(async () => {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    return ready?.ok ?? false
  })
  if (words[0] === 'up') await until(async () => (await client().getStats()).files === 3)
  return started
}

async function pushLarge(name: string, bytes: number) {
  const file = join(folder, `${name}.gguf`)
  await writeGgufFile(file, bytes, 3)
  expect((await shoal(['push', file])).exitCode).toBe(0)
  return { sha256: await computeSha256(file) }
}

const until = (isSo: () => Promise<boolean>) => vi.waitUntil(isSo, { timeout: 200_000 })

/** Waits until a pull that prints its progress as JSON has downloaded more than this many bytes. */
async function untilDownloaded({ stderr }: { stderr: Readable }, bytes: number) {
  const reached = Promise.withResolvers<void>()
  createInterface(stderr)
    .on('line', (line) => {
      const event = line.startsWith('{') ? JSON.parse(line) : {}
      if (event.type === 'progress' && event.bytes_done > bytes) reached.resolve()
    })
    .on('close', () => reached.reject(new Error('the pull ended too early')))
  await reached.promise
}

async function computeSha256(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
}

/** Returns the only token in a credentials file. */
function tokenIn(credentials: unknown): string {
  const found = /shs_[0-9A-Za-z]{43}/.exec(JSON.stringify(credentials))
  if (!found) throw new Error('no token was kept')
  return found[0]
}
