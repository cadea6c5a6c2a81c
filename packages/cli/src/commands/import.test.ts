import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeGgufFile } from '@shoal/model-file/testing'
import { findAtPath, importFile, readPreset, readRecord } from '@shoal/transfer'
import { expect, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { memoryFolder } from '../../../../testing/small-disk.ts'
import { putHubFile, putOllamaModel } from '../testing/foreign-stores.ts'
import { nanoPath, putModelFile } from '../testing/local-files.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'
import { withoutRoot } from '../testing/without-root.ts'

/** Creates a home with an empty Ollama store. Returns it with a function that runs shoal there. */
async function useStores() {
  const home = await makeHome()
  const store = join(home.path, 'ollama')
  const env = { HOME: home.path, OLLAMA_MODELS: store }
  const shoal = (...words: string[]) => shoalHere(words, { home: home.path, env })
  return { ...home, store, shoal }
}

const listed = async (shoal: (...words: string[]) => Promise<{ stdout: string }>) =>
  JSON.parse((await shoal('ls', '--json')).stdout) as Record<string, unknown>[]

test('Ollama models are imported by reference, and can be listed immediately', async () => {
  await using home = await useStores()
  const { store, models, shoal } = home
  const license = '\n  Tide Community License\nwith many lines'
  const blob = await putOllamaModel({ store, license })
  await putOllamaModel({ store, name: 'registry.ollama.ai/library/tide/3b-instruct-q8_0' })
  const { stderr, stdout, exitCode } = await shoal('import', 'ollama')
  expect(stderr).toContain('✓ Imported 2 files (1.95 MB) by reference, without copying.\n')
  expect(stdout.split('\n')).toEqual(['tide-3b-instruct:Q8_0', 'tide:Q8_0', ''])
  expect(exitCode).toBe(0)
  expect(readlinkSync(join(models, 'tide', 'tide-Q8_0.gguf'))).toBe(blob)
  expect(await listed(shoal)).toMatchObject([
    { model: 'tide', quantization: 'Q8_0', finished: true, target: blob, verified: false },
    { model: 'tide-3b-instruct', imported: { origin: 'ollama tide:3b-instruct-q8_0' } },
  ])
  expect((await shoal('ls')).stdout).toContain('from ollama tide:latest')
  expect((await shoal('import', 'ollama')).stderr).toContain('✓ Already imported.')
})

test("an Ollama model keeps its system prompt and parameters, and the user's own settings are not replaced", async () => {
  await using home = await useStores()
  const { store, models, shoal } = home
  const parameters = { temperature: 0.2, stop: ['<|end|>'], num_gpu: 3, mirostat: 1 }
  await putOllamaModel({ store, system: 'Be kind.', parameters })
  await shoal('import', 'ollama')
  const kept = { temperature: 0.2, stop: ['<|end|>'] }
  expect(await readPreset(join(models, 'tide'))).toEqual({ system: 'Be kind.', parameters: kept })
  await shoal('preset', 'tide', '--system', 'Be short.')
  await shoal('import', 'ollama')
  expect(await readPreset(join(models, 'tide'))).toMatchObject({ system: 'Be short.' })
})

test('rm forgets a reference and leaves the original', async () => {
  await using home = await useStores()
  const blob = await putOllamaModel(home)
  await home.shoal('import', 'ollama')
  const { stderr } = await home.shoal('rm', 'tide', '--yes')
  expect(stderr).toContain('✓ Forgot tide:Q8_0.\n')
  expect(stderr).toContain(`The contents of ${blob} were kept.`)
  expect(statSync(blob).size).toBe(statSync(nanoPath).size)
  expect(await readdir(home.models)).toEqual([])
})

test("verify hashes an imported file, and compares the hash with the digest in the blob's name", async () => {
  await using home = await useStores()
  const blob = await putOllamaModel(home)
  await home.shoal('import', 'ollama')
  expect(await home.shoal('verify')).toMatchObject({ exitCode: 0 })
  expect(await listed(home.shoal)).toMatchObject([{ verified: true }])
  const bytes = readFileSync(blob)
  bytes.fill(0, bytes.length - 20)
  await writeFile(blob, bytes)
  await home.shoal('rm', 'tide', '--yes')
  await home.shoal('import', 'ollama')
  const { stdout, exitCode } = await home.shoal('verify')
  expect(stdout).toContain('✗ tide:Q8_0  does not match the hash in the original store')
  expect(exitCode).toBe(7)
  expect((await home.shoal('ls')).stdout).toContain('damaged')
})

test('a hard link shares its bytes with the original, and a copy does not', async () => {
  await using home = await useStores()
  const blob = await putOllamaModel(home)
  const path = join(home.models, 'tide', 'tide-Q8_0.gguf')
  await home.shoal('import', 'ollama', '--link')
  expect(statSync(path)).toMatchObject({ ino: statSync(blob).ino, nlink: 2 })
  expect((await home.shoal('rm', 'tide', '--yes')).stderr).toContain('has other hard links')
  await home.shoal('import', 'ollama', '--copy')
  expect(statSync(path).ino).not.toBe(statSync(blob).ino)
  expect(readFileSync(path).equals(readFileSync(blob))).toBe(true)
  expect((await home.shoal('import', 'ollama', '--copy')).stderr).toContain('Already imported')
})

test('importing again with --link or --copy replaces a reference, and does not depend on the original', async () => {
  await using home = await useStores()
  const blob = await putOllamaModel(home)
  const bytes = readFileSync(blob)
  const path = join(home.models, 'tide', 'tide-Q8_0.gguf')
  const methodOf = async (...words: string[]) => {
    const { stdout } = await home.shoal('import', 'ollama', '--json', ...words)
    const [{ method, already_there }] = JSON.parse(stdout).imported
    return [method, already_there]
  }
  await home.shoal('import', 'ollama')
  await home.shoal('verify')
  expect(await methodOf('--link')).toEqual(['link', false])
  expect(lstatSync(path).ino).toBe(statSync(blob).ino)
  const copied = await home.shoal('import', 'ollama', '--copy')
  expect(copied.stderr).toMatch(/✓ Imported 1 file \(.*\) as copies/)
  expect(lstatSync(path).nlink).toBe(1)
  expect(await methodOf()).toEqual(['copy', true])
  expect(lstatSync(path).ino).not.toBe(statSync(blob).ino)
  await rm(blob)
  expect(await home.shoal('verify')).toMatchObject({ exitCode: 0 })
  expect(readFileSync(path).equals(bytes)).toBe(true)
  expect(await readdir(join(home.models, 'tide'))).toEqual(['.shoal', 'tide-Q8_0.gguf'])
})

test.skipIf(!memoryFolder)(
  'models on another file system cannot be linked, and nothing is left behind',
  async () => {
    await using home = await useStores()
    await using other = await otherFileSystem()
    const env = { HOME: home.path, OLLAMA_MODELS: other.path }
    const blob = await putOllamaModel({ store: other.path })
    const options = { home: home.path, env }
    const refused = await shoalHere(['import', 'ollama', '--link'], options)
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('another file system')
    expect(await readdir(home.models)).toEqual([])
    expect(await shoalHere(['import', 'ollama', '--copy'], options)).toMatchObject({ exitCode: 0 })
    expect(
      readFileSync(join(home.models, 'tide', 'tide-Q8_0.gguf')).equals(readFileSync(blob)),
    ).toBe(true)
  },
)

/** Creates a folder in memory, which is not on the file system of the temporary folder. */
async function otherFileSystem() {
  const path = await mkdtemp(join(memoryFolder ?? '', 'shoal-store-'))
  expect(statSync(path).dev).not.toBe(statSync(tmpdir()).dev)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

test('a folder that cannot be read is skipped, and the rest of the store is imported', async () => {
  await using home = await useStores()
  await putOllamaModel(home)
  const name = 'registry.ollama.ai/library/secret/latest'
  await putOllamaModel({ ...home, name })
  const secret = join(home.store, 'manifests', 'registry.ollama.ai', 'library', 'secret')
  await chmod(secret, 0)
  const studio = join(home.path, '.lmstudio', 'models') // LM Studio's other folder has a model
  await mkdir(studio, { recursive: true })
  await chmod(studio, 0)
  await putModelFile(join(home.path, '.cache', 'lm-studio', 'models', 'wave-Q8_0.gguf'))
  const words = ['import', 'ollama', 'lmstudio']
  const { stderr, exitCode } = await withoutRoot(home.path, () => home.shoal(...words))
  for (const folder of [secret, studio]) await chmod(folder, 0o755)
  expect(stderr).toContain('✓ Imported 2 files')
  for (const folder of [secret, studio]) expect(stderr).toContain(`${folder}: permission denied`)
  expect(exitCode).toBe(0)
})

test('a Hugging Face cache is imported with the names of its repositories', async () => {
  await using home = await makeHome()
  const cache = join(home.path, 'hub')
  const [one, other] = ['ana/Tide-1B-GGUF', 'bea/Tide-1B-GGUF']
  const blob = await putHubFile({ cache, repo: one as string, filename: 'Tide-1B.Q8_0.gguf' })
  await putHubFile({ cache, repo: other as string, filename: 'Tide-1B.Q8_0.gguf' })
  const env = { HF_HUB_CACHE: cache }
  const { stdout } = await shoalHere(['import', 'hf'], { home: home.path, env })
  expect(stdout).toBe('tide-1b:Q8_0\nbea/tide-1b:Q8_0\n')
  const path = join(home.models, 'tide-1b', 'Tide-1B.Q8_0.gguf')
  expect(readlinkSync(path)).toBe(blob)
  const found = await shoalHere(['path', 'bea/tide-1b'], { home: home.path })
  expect(found.stdout).toBe(`${join(home.models, 'bea', 'tide-1b', 'Tide-1B.Q8_0.gguf')}\n`)
  const removed = await shoalHere(['rm', 'bea/tide-1b', '--yes'], { home: home.path })
  expect(removed.exitCode).toBe(0)
  expect(await readdir(home.models)).toEqual(['tide-1b'])
})

test('files in a Hugging Face cache that cannot be imported are listed with the reason', async () => {
  await using home = await makeHome()
  const cache = join(home.path, 'hub')
  const put = (repo: string) => putHubFile({ cache, repo, filename: 'Tide-1B.Q8_0.gguf' })
  await put('ana/Tide-1B-GGUF')
  const ref = join(cache, 'models--ana--Tide-1B-GGUF', 'refs', 'main')
  await rm(ref)
  execFileSync('mkfifo', [ref])
  await rm(await put('bea/Unfinished-GGUF'))
  const blob = await put('cee/Outside-GGUF')
  const outside = join(home.path, 'outside.gguf')
  await rename(blob, outside)
  await symlink(outside, blob)
  const loop = await put('dan/Loop-GGUF')
  await rm(loop)
  await symlink(loop, loop)
  await truncate(await put('eve/Half-GGUF'), 500)
  const env = { HF_HUB_CACHE: cache }
  const words = ['import', 'hf', '--json']
  const { stdout, exitCode } = await shoalHere(words, { home: home.path, env })
  const { imported, skipped } = JSON.parse(stdout)
  expect(imported).toMatchObject([{ model: 'tide-1b' }])
  const reasons = (skipped as { why: string }[]).map(({ why }) => why)
  expect(reasons).toEqual([
    'its blob is missing or not fully downloaded',
    expect.stringContaining(`it is a link to ${outside}, which is outside the cache`),
    'it is part of a loop of links',
    expect.stringContaining('more than the remaining bytes can hold'),
  ])
  expect(exitCode).toBe(0)
})

test('the folders of LM Studio and llama.cpp, and any other folder, can be imported', async () => {
  await using home = await makeHome()
  const studio = join(home.path, '.lmstudio', 'models', 'ana', 'Wave-GGUF')
  await putModelFile(join(studio, 'wave-Q8_0.gguf'))
  const cache = join(home.path, 'llama-cache')
  await putModelFile(join(cache, 'bea_Foam-GGUF_foam-Q8_0.gguf'))
  await writeFile(join(cache, 'manifest=bea=Foam-GGUF=Q8_0.json'), '{}')
  const folder = join(home.path, 'deep', 'er')
  await putModelFile(join(folder, 'surf-Q8_0.gguf'))
  const env = { HOME: home.path, LLAMA_CACHE: cache }
  const words = ['import', 'lmstudio', 'llama.cpp', join(home.path, 'deep')]
  const { stdout } = await shoalHere(words, { home: home.path, env })
  expect(stdout).toBe('wave:Q8_0\nfoam:Q8_0\nsurf:Q8_0\n')
  expect(existsSync(join(home.models, 'foam', 'foam-Q8_0.gguf'))).toBe(true)
})

test('a file can be imported under another name', async () => {
  await using home = await makeHome()
  const path = join(home.path, 'x.gguf')
  await putModelFile(path)
  const named = await shoalHere(['import', path, '--name', 'spray'], { home: home.path })
  expect(named.stdout).toBe('spray:Q8_0\n')
  const bad = await shoalHere(['import', path, '--name', '../x'], { home: home.path })
  expect(bad).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('valid model name') })
})

test('models that cannot be imported are listed with the reason, and the others are imported', async () => {
  await using home = await useStores()
  const { store } = home
  const put = (model: string) =>
    putOllamaModel({ store, name: `registry.ollama.ai/library/${model}/latest` })
  await put('tide')
  const manifests = join(store, 'manifests', 'registry.ollama.ai', 'library')
  const manifest = (model: string, layer: object) =>
    mkdir(join(manifests, model), { recursive: true }).then(() =>
      writeFile(join(manifests, model, 'latest'), JSON.stringify({ layers: [layer] })),
    )
  const mediaType = 'application/vnd.ollama.image.model'
  const digest = (letter: string) => `sha256:${letter.repeat(64)}`
  await manifest('unfinished', { mediaType, digest: digest('a'), size: 9 })
  await manifest('short', { mediaType, digest: digest('b'), size: 9 })
  await writeFile(join(store, 'blobs', `sha256-${'b'.repeat(64)}`), 'GGUF')
  await manifest('empty', {
    mediaType: 'application/vnd.ollama.image.tensor',
    digest: digest('c'),
    size: 1,
  })
  await manifest('strange', { mediaType, digest: 'sha256:../../x', size: 1 })
  await manifest('outside', { mediaType, digest: digest('d'), size: statSync(nanoPath).size })
  const outside = join(home.path, 'outside.gguf')
  await putModelFile(outside)
  await symlink(outside, join(store, 'blobs', `sha256-${'d'.repeat(64)}`))
  await writeFile(join(manifests, 'short', 'torn'), '{"layers":')
  await writeFile(join(manifests, 'short', 'huge'), '')
  await truncate(join(manifests, 'short', 'huge'), 1.5e9)
  await manifest('piped', { mediaType, digest: digest('e'), size: 9 })
  const pipes = [join(manifests, 'short', 'pipe'), join(store, 'blobs', `sha256-${'e'.repeat(64)}`)]
  execFileSync('mkfifo', pipes)
  const { stderr, stdout, exitCode } = await home.shoal('import', 'ollama')
  for (const reason of [
    'Ollama has not finished downloading it',
    'half-written: 4 of 9 bytes',
    'empty:latest contains no GGUF file',
    'it is not a manifest, or shoal does not support its format',
    `it is a link to ${outside}, which is outside the store`,
    `huge: it has more than 4194304 bytes`,
    ...pipes.map((pipe) => `${pipe}: it is not a file`),
  ]) {
    expect(stderr).toContain(reason)
  }
  expect(stdout).toBe('tide:Q8_0\n')
  expect(exitCode).toBe(0)
})

test('the errors for a half-written file, a missing file and a missing store state the reason', async () => {
  await using home = await makeHome()
  const path = join(home.path, 'half-Q8_0.gguf')
  await copyFile(nanoPath, path)
  await truncate(path, 100)
  const half = await shoalHere(['import', path], { home: home.path })
  expect(half.stderr).toContain(`✗ Nothing was imported. ${path}: `)
  const missing = await shoalHere(['import', './nothing'], { home: home.path })
  expect(missing).toMatchObject({ stderr: '✗ ./nothing does not exist.\n' })
  const env = { OLLAMA_MODELS: join(home.path, 'nowhere') }
  const none = await shoalHere(['import', 'ollama'], { home: home.path, env })
  expect(none.stderr).toContain('✗ There is no ollama store in')
  expect(existsSync(home.models)).toBe(false)
})

test('a different file with the same name is not replaced', async () => {
  await using home = await useStores()
  const there = join(home.models, 'tide', 'tide-Q8_0.gguf')
  await putModelFile(there)
  const before = lstatSync(there)
  await putOllamaModel(home)
  const { stderr, exitCode } = await home.shoal('import', 'ollama')
  expect(stderr).toContain(
    'already exists and is a different file; to import under another name, use --name',
  )
  expect(exitCode).toBe(1)
  expect(lstatSync(there)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
})

test('if the original file is missing, ls reports it, and a new import restores the model', async () => {
  await using home = await useStores()
  const blob = await putOllamaModel(home)
  await home.shoal('import', 'ollama')
  await rm(blob)
  expect((await home.shoal('ls')).stdout).toContain(`missing: ${blob} no longer exists`)
  expect((await home.shoal('verify')).stderr).toContain(`is missing: ${blob} no longer exists.`)
  const run = await home.shoal('path', 'tide')
  expect(run.stderr).toContain(`✗ ${blob} no longer exists.`)
  await putOllamaModel(home)
  await home.shoal('import', 'ollama')
  expect(await listed(home.shoal)).toMatchObject([{ missing: false, finished: true }])
})

test('without --registry, nothing is sent, and the license is read from the manifest', async () => {
  await using home = await useStores()
  await using registry = await countingServer()
  const from = join(home.path, 'unlicensed.gguf')
  await writeGgufFile(from, 100_000)
  await putOllamaModel({ ...home, from, license: '\n  Tide Community License\nmore' })
  const env = { HOME: home.path, OLLAMA_MODELS: home.store }
  const options = { home: home.path, env, registry: registry.url }
  const imported = await shoalHere(['import', 'ollama', '--json'], options)
  expect(JSON.parse(imported.stdout)).toMatchObject({
    imported: [{ model: 'tide', license: 'Tide Community License' }],
  })
  expect(registry.requests).toEqual([])
  await shoalHere(['import', 'ollama', '--registry', registry.url], options)
  expect(registry.requests).toEqual(['POST /v1/files/lookup'])
})

/** Starts a registry without files, and records the requests to it. */
async function countingServer() {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.setHeader('content-type', 'application/json').end('[]')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a read-only store can be imported, and two concurrent imports have the same result', async () => {
  await using home = await useStores()
  const blob = await putOllamaModel(home)
  const folders = [join(home.store, 'blobs'), home.store]
  await chmod(blob, 0o444)
  for (const folder of folders) await chmod(folder, 0o555)
  const both = await withoutRoot(home.path, () =>
    Promise.all([home.shoal('import', 'ollama'), home.shoal('import', 'ollama')]),
  )
  for (const folder of folders) await chmod(folder, 0o755)
  expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0])
  expect(await listed(home.shoal)).toMatchObject([{ model: 'tide', finished: true }])
})

/** Returns the disk space that a folder occupies, in bytes, excluding the targets of links. */
const usage = async (folder: string) =>
  (await readdir(folder, { recursive: true }))
    .map((name) => lstatSync(join(folder, name)).blocks * 512)
    .reduce((sum, bytes) => sum + bytes, 0)

slowTest('a large file in a store can be used without copying or hashing it', async () => {
  await using home = await useStores()
  const blob = await putOllamaModel({ ...home, sizeBytes: 2 ** 26 })
  const before = statSync(blob)
  const imported = await home.shoal('import', 'ollama')
  expect(imported.stderr).toContain('✓ Imported 1 file (67.1 MB) by reference')
  expect((await home.shoal('ls')).stdout).toContain('from ollama tide:latest')
  expect(await readRecord(join(home.models, 'tide', 'tide-Q8_0.gguf'))).toBeUndefined()
  const answer = await home.shoal('run', 'tide', 'Hello', '--max-tokens', '2')
  expect(answer.exitCode).toBe(0)
  expect(await usage(home.models)).toBeLessThan(100_000)
  const { ino, blocks, mtimeMs } = before
  expect(statSync(blob)).toMatchObject({ ino, blocks, mtimeMs })
})

test('files that are deleted or changed during an import are reported, and leave nothing behind', async () => {
  await using home = await useStores()
  const { store, models } = home
  const name = (model: string) => `registry.ollama.ai/library/${model}/latest`
  const gone = await putOllamaModel({ store, name: name('surf'), sizeBytes: 2_000_000 })
  const { files } = await findAtPath(store)
  const [found] = files
  if (found === undefined) throw new Error('the store contains a model')
  for (const method of ['reference', 'link', 'copy'] as const) {
    await truncate(gone, 3_000_000)
    const changed = importFile(found, { modelsDirectory: models, method })
    await expect(changed).rejects.toMatchObject({ code: 'file_changed' })
    await rm(gone)
    const missing = importFile(found, { modelsDirectory: models, method })
    await expect(missing).rejects.toMatchObject({ code: 'file_changed' })
    await putOllamaModel({ store, name: name('surf'), sizeBytes: 2_000_000 })
  }
  expect(existsSync(models)).toBe(false)
})

test('run imports a file by reference, and runs it', async () => {
  await using home = await makeHome()
  const path = join(home.path, 'spray-Q8_0.gguf')
  await putModelFile(path)
  const words = ['run', path, 'Hello', '--max-tokens', '2']
  const { stderr, exitCode } = await shoalHere(words, { home: home.path })
  expect(stderr).toContain(`${path} is available as spray:Q8_0.`)
  expect(exitCode).toBe(0)
  expect(readlinkSync(join(home.models, 'spray', 'spray-Q8_0.gguf'))).toBe(path)
  const missing = await shoalHere(['run', './nothing.gguf', 'Hello'], { home: home.path })
  expect(missing.stderr).toBe('✗ ./nothing.gguf does not exist.\n')
})
