import { lstatSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import { pushFile } from '@shoal/transfer'
import { expect, test } from 'vitest'
import { putOllamaModel } from '../testing/foreign-stores.ts'
import { nanoPath } from '../testing/local-files.ts'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('a damaged file imported with --link is repaired from the registry, and Ollama’s file stays as it was', async () => {
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
