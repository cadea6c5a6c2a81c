import { once } from 'node:events'
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { copyFile, mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import { pushFile, readRecord } from '@shoal/transfer'
import { expect, test } from 'vitest'
import { putOllamaModel } from '../testing/foreign-stores.ts'
import { nanoPath, putModelFile, shippedModels } from '../testing/local-files.ts'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome, startShoal } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('a damaged file imported with --link is repaired from the registry, and the original file is not changed', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const client = registryClient({ baseUrl: registry.url, token: registry.token })
  await client.createModel({ name: 'wave' })
  await pushFile({ client, modelName: 'wave', path: nanoPath })
  const store = join(home.path, 'ollama')
  const blob = await putOllamaModel({ store })
  const shoal = (...words: string[]) =>
    shoalHere(words, { home: home.path, env: { OLLAMA_MODELS: store } })
  const imported = await shoal('import', 'ollama', '--link', '--registry', registry.url)
  expect(imported.stderr).toContain('has 1 of 1 file.')
  const path = join(home.models, 'wave', 'shoal-nano-Q8_0.gguf')
  expect(statSync(path).ino).toBe(statSync(blob).ino)
  expect((await shoal('verify')).stdout).toContain('✓ wave:Q8_0  intact')

  const bytes = readFileSync(blob)
  bytes.fill(0, bytes.length - 20)
  await writeFile(blob, bytes)
  const { ino, mtimeMs } = statSync(blob)
  expect((await shoal('verify', '--repair')).stdout).toContain('✓ wave:Q8_0  repaired')
  expect(readFileSync(path).equals(readFileSync(nanoPath))).toBe(true)
  expect(lstatSync(path).ino).not.toBe(ino)
  expect(statSync(blob)).toMatchObject({ ino, mtimeMs })
  expect(readFileSync(blob).equals(bytes)).toBe(true)
})

test('files whose names are not hashes are hashed only if --registry is given', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const client = registryClient({ baseUrl: registry.url, token: registry.token })
  await client.createModel({ name: 'wave' })
  await pushFile({ client, modelName: 'wave', path: nanoPath })
  const folder = join(home.path, 'theirs')
  await putModelFile(join(folder, 'spray.gguf'))
  const other = join(home.path, 'other')
  await mkdir(other)
  const tiny = join(shippedModels, 'shoal-tiny', 'shoal-tiny-Q4_0.gguf')
  await copyFile(tiny, join(other, 'foam-Q4_0.gguf'))
  const shoal = (...words: string[]) => shoalHere(words, { home: home.path })

  const silent = await shoal('import', folder, '--progress=json')
  expect(silent.stderr).not.toContain('"hashing"')
  const first = join(home.models, 'spray', 'spray.gguf')
  expect(await readRecord(first)).toBeUndefined()
  await shoal('rm', 'spray', '--yes')

  const words = ['import', folder, other, '--registry', registry.url, '--progress=json']
  const named = await shoal(...words)
  expect(named.stderr).toContain('"type":"hashing"')
  expect(named.stdout).toBe('wave:Q8_0\nfoam:Q4_0\n')
  const path = join(home.models, 'wave', 'shoal-nano-Q8_0.gguf')
  expect(await readRecord(path)).toMatchObject({ registry: registry.url, without_peers: true })
  const unknown = await readRecord(join(home.models, 'foam', 'foam-Q4_0.gguf'))
  expect(unknown).toMatchObject({ file_size_bytes: statSync(tiny).size })
  expect(unknown).not.toHaveProperty('registry')
  expect(JSON.parse((await shoal('ls', '--json')).stdout)).toMatchObject([
    { model: 'foam', verified: true },
    { model: 'wave', verified: true },
  ])
  const pulled = await shoal('pull', 'wave', '--registry', registry.url)
  expect(pulled.stderr).toContain(
    `✓ Already on this machine, as a link to ${join(folder, 'spray.gguf')}.`,
  )

  const again = await shoal(...words, '--share')
  expect(again.stderr).not.toContain('"hashing"')
  expect(await readRecord(path)).not.toHaveProperty('without_peers')
  const bytes = readFileSync(join(folder, 'spray.gguf'))
  bytes.fill(0, bytes.length - 20)
  await writeFile(join(folder, 'spray.gguf'), bytes)
  const repaired = await shoal('verify', '--repair', 'wave')
  expect(repaired.stdout).toContain('✓ wave:Q8_0  repaired')
  expect(readFileSync(join(folder, 'spray.gguf')).equals(bytes)).toBe(true)
})

test('an import can be stopped while a file is hashed', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const path = join(home.path, 'tide.gguf')
  await putModelFile(path)
  await truncate(path, 16 * 2 ** 30) // sparse
  const words = ['import', path, '--registry', registry.url, '--progress=json']
  const { child, outcome } = startShoal(words, { home: home.path })
  await once(child.stderr, 'data')
  child.kill('SIGINT')
  const { exitCode, stderr } = await outcome
  expect(stderr).toContain('"hashing"')
  expect(exitCode).toBe(130)
  expect(existsSync(home.models)).toBe(false)
})

test('a lookup finds only files that the caller may read', async () => {
  await using registry = await realRegistry()
  const client = registryClient({ baseUrl: registry.url, token: registry.token })
  await client.createModel({ name: 'wave', is_public: false })
  const { sha256_hash } = await pushFile({ client, modelName: 'wave', path: nanoPath })
  const unknown = 'a'.repeat(64)
  const found = await client.lookUpFiles([unknown, sha256_hash, sha256_hash])
  expect(found).toMatchObject([{ sha256_hash, model_name: 'wave' }])
  const stranger = registryClient({ baseUrl: registry.url })
  expect(await stranger.lookUpFiles([sha256_hash])).toEqual([])
  const many = Array.from({ length: 1_001 }, () => unknown)
  await expect(stranger.lookUpFiles(many)).rejects.toMatchObject({ status: 422 })
  await expect(stranger.lookUpFiles(['x'])).rejects.toMatchObject({ status: 422 })
})
