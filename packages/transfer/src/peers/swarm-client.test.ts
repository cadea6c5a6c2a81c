import { once } from 'node:events'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { directNetwork } from '@shoal/network'
import { expect, onTestFinished, test } from 'vitest'
import { writeAll } from '../disk/write-all.ts'
import { temporaryDirectory } from '../testing/pull-scene.ts'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'
import { joinSwarm } from './swarm-client.ts'
import type { Contact, SwarmEvents } from './swarm-messages.ts'

const file = syntheticFile(mebibyte, mebibyte)

/** An event with its values. */
type NotifiedEvent = {
  [E in keyof SwarmEvents]: [event: E, ...told: Parameters<SwarmEvents[E]>]
}[keyof SwarmEvents]

/**
 * Starts a member of the swarm that has no complete piece yet. `begin` is the part of the file that is already on disk.
 */
async function member(
  { origin, tracker }: Awaited<ReturnType<typeof swarmScene>>,
  fileSizeBytes: number,
  { begin = Buffer.alloc(0), ...contact }: Partial<Contact> & { begin?: Buffer } = {},
) {
  const path = join(temporaryDirectory(), 'model.gguf.part')
  writeFileSync(path, Buffer.concat([begin, Buffer.alloc(fileSizeBytes - begin.length)]))
  const events: NotifiedEvent[] = []
  const announced = once(tracker, 'start')
  const swarm = await joinSwarm(
    {
      network: directNetwork,
      path,
      fileSizeBytes,
      torrent: origin.swarm?.torrent ?? Buffer.alloc(0),
      host: '127.0.0.1',
      isLocalDiscoveryOn: false,
      downloadLimit: undefined,
      uploadLimit: undefined,
    },
    { port: 0, peerId: undefined, peers: [], ...contact },
    (...event) => events.push(event as unknown as NotifiedEvent),
  )
  onTestFinished(() => swarm.close())
  await announced
  return { swarm, events, path }
}

/** Joins as `peerId` on `port`, and returns the port on which the client then listens. */
async function portAfterJoining(port: number, peerId: string) {
  const scene = await swarmScene(file)
  const { origin, tracker } = scene
  const { events } = await member(scene, file.bytes.length, { port, peerId })
  const peers = Object.values(tracker.torrents[origin.swarm?.infoHash ?? '']?.peers.cache ?? {})
  expect(events.filter(([event]) => event === 'failed')).toEqual([])
  return { peers, ready: events.flatMap(([event, place]) => (event === 'ready' ? [place] : []))[0] }
}

async function listen() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

const peerId = '-WW0300-abcdefabcdef'

test('a client takes over the announced port and peer ID of its pull', async () => {
  const { server, port } = await listen()
  server.close()
  await once(server, 'close')
  const { ready, peers } = await portAfterJoining(port, peerId)
  expect(ready).toMatchObject({ port })
  expect(JSON.stringify(peers)).toContain(Buffer.from(peerId).toString('hex'))
})

test('a client whose port has been taken in the meantime listens on another', async () => {
  const { server, port } = await listen()
  onTestFinished(() => {
    server.close()
  })
  const { ready } = await portAfterJoining(port, peerId)
  expect(ready?.port).toBeGreaterThan(0)
  expect(ready?.port).not.toBe(port)
})

test('after a complete chunk is released, all pieces of the next chunk are still requested', async () => {
  const two = syntheticFile(8 * mebibyte, 4 * mebibyte)
  const scene = await swarmScene(two)
  const { swarm, events } = await member(scene, two.bytes.length)
  const [first, second] = [
    { from: 0, to: 3 },
    { from: 4, to: 7 },
  ]
  swarm.want({ ...first, bytesHere: 0 })
  swarm.have(first)
  swarm.want({ ...second, bytesHere: 0 })
  await Promise.resolve() // by now the library has counted the pieces on disk
  swarm.leave(first)
  await scene.seeder()
  await expect.poll(() => fromPeers(events).map(([index]) => index)).toHaveLength(4)
  expect(fromPeers(events).every(([index]) => index >= 4)).toBe(true)
})

/** The pieces that peers sent, with the number of bytes received. */
const fromPeers = (events: NotifiedEvent[]) =>
  events.flatMap(([event, piece]) => {
    if (event !== 'piece' || piece.sent.length === 0) return []
    return [[piece.index, piece.sent.reduce((sum, [, bytes]) => sum + bytes, 0)] as const]
  })

test('blocks that an interrupted request left on disk are not requested from peers', async () => {
  const scene = await swarmScene(file)
  const begin = file.bytes.subarray(0, 500_000)
  const { swarm, events } = await member(scene, file.bytes.length, { begin })
  swarm.want({ from: 0, to: 0, bytesHere: begin.length })
  await scene.seeder()
  const blocks = Math.floor(begin.length / 16_384)
  await expect.poll(() => fromPeers(events)).toEqual([[0, file.bytes.length - blocks * 16_384]])
})

test('a piece that began with wrong bytes is fetched again, and no peer is blamed', async () => {
  const scene = await swarmScene(file)
  const begin = Buffer.alloc(500_000, 'x')
  const { swarm, events } = await member(scene, file.bytes.length, { begin })
  swarm.want({ from: 0, to: 0, bytesHere: begin.length })
  await scene.seeder()
  await expect.poll(() => fromPeers(events)).toHaveLength(1)
  expect(events.filter(([event]) => event === 'banned')).toEqual([])
})

test('after `settle`, pieces that a peer has begun to send are finished, and no others are requested', async () => {
  const large = syntheticFile(16 * mebibyte, 16 * mebibyte)
  const scene = await swarmScene(large)
  const { swarm, events } = await member(scene, large.bytes.length)
  const chunk = { from: 0, to: 15 }
  swarm.want({ ...chunk, bytesHere: 0 })
  const { status } = await scene.seeder(large.bytes, { uploadLimit: 3 * mebibyte })
  await expect.poll(() => fromPeers(events).length).toBeGreaterThan(0)
  swarm.settle(chunk)
  await expect.poll(() => events).toContainEqual(['settled', 0])
  const pieces = fromPeers(events)
  expect(pieces.length).toBeLessThan(16)
  expect(pieces.every(([, bytes]) => bytes === mebibyte)).toBe(true)
  await expect.poll(() => status().files[0]?.uploadedBytes).toBe(pieces.length * mebibyte)
})

test('pieces of a chunk with a wrong hash are checked and fetched again when the chunk is requested again', async () => {
  const two = syntheticFile(8 * mebibyte, 4 * mebibyte)
  const scene = await swarmScene(two)
  const { swarm, events, path } = await member(scene, two.bytes.length)
  const chunk = { from: 0, to: 3 }
  swarm.want({ ...chunk, bytesHere: 0 })
  await scene.seeder(two.bytes)
  await expect.poll(() => fromPeers(events)).toHaveLength(4)
  swarm.leave(chunk)
  overwrite(path, mebibyte)
  events.length = 0
  swarm.forget(chunk)
  swarm.want({ ...chunk, bytesHere: 0 })
  await expect.poll(() => fromPeers(events)).toEqual([[1, mebibyte]])
  const known = events.flatMap(([event, piece]) => (event === 'piece' ? [piece] : []))
  expect(known.map(({ index }) => index).toSorted()).toEqual([0, 1, 2, 3])
  expect(readFileSync(path).equals(Buffer.concat([first(two.bytes), rest]))).toBe(true)
})

const first = (bytes: Uint8Array) => bytes.subarray(0, 4 * mebibyte)
const rest = Buffer.alloc(4 * mebibyte)

/** Overwrites bytes of the file with wrong bytes. */
function overwrite(path: string, at: number) {
  const fd = openSync(path, 'r+')
  writeAll(fd, Buffer.alloc(1000, 'x'), at)
  closeSync(fd)
}

test('`settle` does not wait for a piece that has blocks on disk but none from peers', async () => {
  const two = syntheticFile(2 * mebibyte, mebibyte)
  const scene = await swarmScene(two)
  const begin = two.bytes.subarray(0, 500_000)
  const { swarm, events } = await member(scene, two.bytes.length, { begin })
  swarm.want({ from: 1, to: 1, bytesHere: 0 })
  const { status } = await scene.seeder(two.bytes, { uploadLimit: 64 * 1024 })
  await expect.poll(() => status().files[0]?.uploadedBytes).toBeGreaterThan(0)
  swarm.want({ from: 0, to: 0, bytesHere: begin.length }) // requested only after piece 1, which was begun first
  swarm.settle({ from: 0, to: 0 })
  expect(events).toContainEqual(['settled', 0])
})

test('`settle` stops waiting for a piece when the peer that was sending it leaves', async () => {
  const scene = await swarmScene(file)
  const { swarm, events } = await member(scene, file.bytes.length)
  swarm.want({ from: 0, to: 0, bytesHere: 0 })
  const seeder = await scene.seeder(file.bytes, { uploadLimit: 64 * 1024 })
  await expect.poll(() => seeder.status().files[0]?.uploadedBytes).toBeGreaterThan(0)
  swarm.settle({ from: 0, to: 0 })
  expect(events).not.toContainEqual(['settled', 0])
  await seeder.close()
  await expect.poll(() => events).toContainEqual(['settled', 0])
  expect(fromPeers(events)).toEqual([])
})

test('finished turns leave no listeners or events behind', async () => {
  const scene = await swarmScene(file)
  const { swarm, events } = await member(scene, file.bytes.length)
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => {
    process.off('warning', onWarning)
  })
  const seeder = await scene.seeder(file.bytes, { uploadLimit: 64 * 1024 })
  swarm.want({ from: 0, to: 0, bytesHere: 0 })
  await expect.poll(() => seeder.status().files[0]?.uploadedBytes).toBeGreaterThan(0)
  for (let turn = 0; turn < 12; turn += 1) {
    swarm.want({ from: 0, to: 0, bytesHere: 0 })
    swarm.settle({ from: 0, to: 0 })
    swarm.leave({ from: 0, to: 0 })
  }
  swarm.have({ from: 0, to: 0 })
  await new Promise((resolve) => setImmediate(resolve)) // warnings arrive a tick later
  expect(events.filter(([event]) => event === 'settled')).toEqual([])
  expect(warnings).toEqual([])
})
