import { once } from 'node:events'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { getFilePaths } from '../disk/file-paths.ts'
import { listLocalFiles } from '../disk/list-local-files.ts'
import { readRecord, writeRecord } from '../disk/record.ts'
import { checkImport } from '../import/check-import.ts'
import type { FoundFile } from '../import/found-file.ts'
import { importFile } from '../import/import-file.ts'
import { repairFile } from '../local/repair-file.ts'
import { temporaryDirectory } from '../testing/pull-scene.ts'
import { quickTuning } from '../testing/quick-tuning.ts'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile, toModelFile } from '../testing/synthetic-file.ts'
import { shareFolder } from './share-folder.ts'
import { shareableFiles } from './shareable-files.ts'

const file = syntheticFile(2 * mebibyte, mebibyte)

async function share(modelsDirectory: string) {
  const dropped: string[] = []
  const sharing = await shareFolder({
    modelsDirectory,
    host: '127.0.0.1',
    onDropped: (name, message) => dropped.push(`${name}: ${message}`),
    onFailed: (message) => dropped.push(message),
  })
  onTestFinished(() => sharing.close())
  return { ...sharing, dropped }
}

test('the first scan of the folder ends only when a slow registry has responded', async () => {
  const { origin, directory, path, pull } = await swarmScene(file)
  await pull()
  const answers = Promise.withResolvers<void>()
  const registry = createServer(async (request, response) => {
    await answers.promise
    const answer = await fetch(`${origin.url}${request.url}`)
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  registry.listen(0, '127.0.0.1')
  await once(registry, 'listening')
  onTestFinished(() => {
    registry.close()
  })
  const record = await readRecord(path)
  if (!record?.registry) throw new Error('a pulled file has a record')
  const { port } = registry.address() as AddressInfo
  await writeRecord(path, { ...record, registry: `http://127.0.0.1:${port}` })

  const sharing = await share(directory)
  expect(sharing.isScanning()).toBe(true)
  answers.resolve()
  await sharing.firstScan
  expect(sharing.isScanning()).toBe(false)
  expect(sharing.fileCount()).toBe(1)
  // Available immediately, before the seeder's thread reports it.
  expect(sharing.status().files).toMatchObject([{ path, uploadedBytes: 0 }])
})

test('a file pulled without peers is not shared until it is pulled with `isShared`', async () => {
  const { origin, directory, path, pull } = await swarmScene(file)
  await pull({ peers: 'off', isShared: false })
  const first = await share(directory)
  await first.firstScan
  expect(first.fileCount()).toBe(0)
  expect(first.dropped).toEqual([expect.stringContaining('pulled with --no-peers')])

  const requests = origin.requests.length
  await pull() // without `isShared`, the setting is kept
  expect(await readRecord(path)).toMatchObject({ without_peers: true })
  await pull({ isShared: true })
  expect(origin.requests).toHaveLength(requests)
  const second = await share(directory)
  await second.firstScan
  expect(second.fileCount()).toBe(1)
  await pull({ isShared: false })
  expect(await readRecord(path)).toMatchObject({ without_peers: true })
})

/**
 * Creates another program's copy of the file, and a function that imports the copy under the file's identity in the
 * registry.
 */
function useForeignFile({ directory, origin }: Awaited<ReturnType<typeof swarmScene>>) {
  const blob = join(temporaryDirectory(), 'blob')
  writeFileSync(blob, file.bytes)
  const { id: file_id, model_id, filename, quantization } = toModelFile(file)
  const found: FoundFile = {
    path: blob,
    filename,
    modelName: 'tiny',
    publisher: 'ollama',
    origin: 'ollama tiny:latest',
    quantization: quantization ?? '',
    license: null,
    sizeBytes: file.bytes.length,
    sha256: file.sha256,
  }
  const twin = { registry: origin.url, model_id, model_name: 'tiny', file_id, filename, host: 'x' }
  const importIt = (isShared?: boolean) =>
    importFile(found, { modelsDirectory: directory, method: 'reference', twin, isShared })
  return { blob, importIt }
}

test('an imported file is shared only if the user asked for that, and only after it has been hashed', async () => {
  const scene = await swarmScene(file)
  const { blob, importIt } = useForeignFile(scene)
  await importIt()
  const count = async () => {
    const problems: string[] = []
    const onProblem = (_: string, message: string) => problems.push(message)
    const list = shareableFiles({ modelsDirectory: scene.directory, onProblem })
    return { files: (await list(AbortSignal.timeout(60_000))).length, problems }
  }
  const hash = async () => {
    for (const one of await listLocalFiles(scene.directory)) await checkImport(one)
  }
  expect(await count()).toEqual({ files: 0, problems: [] })
  await hash()
  const why = 'it was imported; to share it, import it again with --registry and --share'
  expect(await count()).toEqual({ files: 0, problems: [why] })
  expect(await importIt(true)).toMatchObject({ alreadyThere: true })
  expect(await count()).toEqual({ files: 1, problems: [] })
  // The bytes are the same, but the inode is new, so this is not the file that was hashed.
  writeFileSync(`${blob}.new`, file.bytes)
  renameSync(`${blob}.new`, blob)
  expect(await count()).toEqual({ files: 0, problems: [] })
  await hash()
  expect(await count()).toEqual({ files: 1, problems: [] })
})

test('a pull that finds an imported file does not begin to share it, and leaves the original', async () => {
  const scene = await swarmScene(file)
  const { blob, importIt } = useForeignFile(scene)
  const { path } = await importIt()
  const before = statSync(blob)
  expect(await scene.pull()).toMatchObject({ alreadyThere: true, downloadedBytes: 0 })
  expect(await readRecord(path)).toMatchObject({ without_peers: true })
  expect(statSync(blob)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs, nlink: 1 })
})

test('after a repair, a file that was pulled with sharing turned off is still not shared', async () => {
  const { origin, path, pull } = await swarmScene(file)
  await pull({ isShared: false })
  const client = registryClient({ baseUrl: origin.url })
  await repairFile({ client, path, tuning: quickTuning })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(JSON.parse(readFileSync(getFilePaths(path).record, 'utf8'))).toMatchObject({
    without_peers: true,
  })
})
