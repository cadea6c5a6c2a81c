import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { registryClient } from '@shoal/protocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { getFilePaths } from '../disk/file-paths.ts'
import { readRecord, writeRecord } from '../disk/record.ts'
import { repairFile } from '../local/repair-file.ts'
import { quickTuning } from '../testing/quick-tuning.ts'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'
import { shareFolder } from './share-folder.ts'

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
