import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import WebTorrent, { type Torrent } from 'webtorrent'
import { slowTest } from '../../../../testing/slow-test.ts'
import { filterEvents, temporaryDirectory } from '../testing/pull-scene.ts'
import { quickTuning } from '../testing/quick-tuning.ts'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'
import { startSeeder } from './seeder.ts'

const file = syntheticFile(4 * mebibyte, mebibyte)
const blockBytes = 16 * 1024
const onlyPeers = { peers: 'only', tuning: { ...quickTuning, stallMs: 5_000 } } as const

test('a file that has reached its ratio is no longer seeded, and the tracker is notified', async () => {
  const { path, pull, seeder, seeds } = await swarmScene(file)
  const { status } = await seeder(file.bytes, { ratio: 1 })
  await pull(onlyPeers)
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  await expect.poll(seeds).toBe(0)
  await expect.poll(() => status().files).toMatchObject([{ isDone: true, peers: 0 }])
  expect(status().files[0]?.uploadedBytes).toBeGreaterThanOrEqual(file.bytes.length)
})

test('the ratio is not exceeded, even with many peers at once or across pauses', async () => {
  const { seeder } = await swarmScene(file)
  const { status, shared, pause, resume } = await seeder(file.bytes, { ratio: 0.3 })
  const limit = 0.3 * file.bytes.length
  await expect.poll(() => status().port).toBeGreaterThan(0)
  const address = `127.0.0.1:${status().port}`
  const takers = Array.from({ length: 6 }, () => takeFrom(address, shared.torrent))
  const received = () => takers.reduce((sum, taker) => sum + taker.received, 0)
  await expect.poll(received).toBeGreaterThan(0)
  pause()
  await expect.poll(() => status().isPaused).toBe(true)
  resume()
  await expect.poll(() => status()).toMatchObject({ isPaused: false })
  for (const taker of takers) taker.addPeer(address)
  await expect.poll(() => status().files).toMatchObject([{ isDone: true, peers: 0 }])
  expect(status().files[0]?.uploadedBytes).toBeLessThan(limit + blockBytes)
  expect(received()).toBeLessThan(limit + blockBytes)
})

/** An ordinary BitTorrent client, connected to one peer. */
function takeFrom(address: string, torrent: Uint8Array): Torrent {
  const client = new WebTorrent({
    dht: false,
    lsd: false,
    natPmp: false,
    natUpnp: false,
    tracker: false,
    utp: false,
    torrentPort: { port: 0, host: '127.0.0.1' },
  })
  onTestFinished(() => new Promise<void>((resolve) => client.destroy(() => resolve())))
  const path = temporaryDirectory()
  return client.add(torrent, { path }, (added) => added.addPeer(address))
}

slowTest('a paused seeder uploads nothing until it resumes, and keeps its byte count', async () => {
  const { path, pull, seeder, seeds, events } = await swarmScene(file)
  const { pause, resume, status } = await seeder()
  await pull(onlyPeers)
  pause()
  await expect.poll(seeds).toBe(0)
  await expect.poll(() => status().isPaused).toBe(true)
  const given = status().files[0]?.uploadedBytes ?? 0
  expect(given).toBeGreaterThanOrEqual(file.bytes.length)

  const other = `${path}-2`
  events.length = 0
  const tuning = { ...onlyPeers.tuning, stallMs: 1_000 }
  const pulling = pull({ ...onlyPeers, tuning, path: other })
  await expect.poll(() => filterEvents(events, 'waiting')).not.toEqual([]) // for peers
  expect(status().files).toMatchObject([{ uploadedBytes: given, peers: 0 }])
  resume()
  await pulling
  expect(readFileSync(other).equals(file.bytes)).toBe(true)
  await expect
    .poll(() => status().files[0]?.uploadedBytes)
    .toBeGreaterThanOrEqual(given + file.bytes.length)
})

test('a file shared during a pause is seeded after the pause', async () => {
  const { seeder, seeds } = await swarmScene(file)
  const { pause, resume, share, unshare, shared, status } = await seeder()
  unshare(shared.path)
  await expect.poll(seeds).toBe(0)
  pause()
  share(shared)
  await expect.poll(status).toMatchObject({ isPaused: true, files: [{ path: shared.path }] })
  expect(seeds()).toBe(0)
  resume()
  await expect.poll(seeds).toBe(1)
})

test('a missing file is reported, and the other files are still seeded', async () => {
  const { path, pull, seeder } = await swarmScene(file)
  const dropped: string[] = []
  const onDropped = (at: string) => dropped.push(at)
  const { share, shared } = await seeder(file.bytes, { onDropped })
  share({ ...shared, path: '/nowhere/model.gguf' })
  await expect.poll(() => dropped).toEqual(['/nowhere/model.gguf'])
  await pull(onlyPeers)
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
})

test('a seeder reports a failure if its port is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const failed = Promise.withResolvers<string>()
  const { port } = other.address() as AddressInfo
  const seeder = startSeeder({ host: '127.0.0.1', port, onFailed: failed.resolve })
  expect(await failed.promise).toContain('EADDRINUSE')
  expect(seeder.failure()).toContain('EADDRINUSE')
  await seeder.close()
  other.close()
})

test('a seeder takes over the port and the peer ID of an earlier one that was killed, unless the port is in use', async () => {
  const { seeder, tracker } = await swarmScene(file)
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const contactPath = join(temporaryDirectory(), 'contact')
  const peerId = '-WW0300-abcdefghijkl'
  writeFileSync(contactPath, JSON.stringify({ port, peerId })) // left by a seeder that was killed
  const peers = () =>
    Object.values(tracker.torrents).flatMap((one) => Object.keys(one?.peers.cache ?? {}))

  const elsewhere = await seeder(file.bytes, { contactPath })
  await expect.poll(() => elsewhere.status().port).toBeGreaterThan(0)
  expect(elsewhere.status().port).not.toBe(port)
  await elsewhere.close()
  expect(existsSync(contactPath)).toBe(false)

  other.close()
  writeFileSync(contactPath, JSON.stringify({ port, peerId }))
  await seeder(file.bytes, { contactPath })
  expect(peers()).toEqual([`127.0.0.1:${port}`])
})
