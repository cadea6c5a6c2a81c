import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { pieceLengthFor } from '@shoal/model-file'
import { expect, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import {
  connectTo,
  extended,
  handshake,
  interested,
  longLength,
  piece,
  pour,
  request,
  unchoke,
} from '../testing/raw-peer.ts'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(2 * mebibyte, mebibyte)
const blockBytes = 16_384

/** Starts a seeder. `stillGives` checks that it still uploads. */
async function scene(of = file) {
  const { origin, path, pull, seeder } = await swarmScene(of)
  const { status, failure } = await seeder()
  await expect.poll(() => status().port).toBeGreaterThan(0)
  return {
    port: status().port,
    uploadedBytes: () => status().files[0]?.uploadedBytes ?? 0,
    infoHash: origin.swarm?.infoHash ?? '',
    async stillGives() {
      await pull({ peers: 'only', tuning: { stallMs: 5_000 } })
      expect(readFileSync(path).equals(of.bytes)).toBe(true)
      expect(failure()).toBeUndefined()
    },
  }
}

const attacks: [string, (infoHash: string) => Buffer][] = [
  ['zeros in place of a key', () => Buffer.alloc(700)],
  ['noise', () => Buffer.from(file.bytes.subarray(0, 4000))],
  ['an unterminated dictionary', (hash) => Buffer.concat([handshake(hash), extended(0, 'd1:mde')])],
  ['a length of 2 GiB', (hash) => Buffer.concat([handshake(hash), longLength])],
  ['nested lists', (hash) => Buffer.concat([handshake(hash), extended(0, 'l'.repeat(20_000))])],
  ['a block of 1 GiB', (hash) => Buffer.concat([handshake(hash), request(0, 0, 2 ** 30)])],
]

slowTest('a seeder survives messages that no client would send, and keeps seeding', async () => {
  const { port, infoHash, stillGives } = await scene()
  for (const [name, attack] of attacks) {
    const socket = await connectTo(port)
    socket.write(attack(infoHash))
    await expect(takeBlock(port, infoHash), name).resolves.toBeUndefined()
  }
  await stillGives()
})

/** Downloads the first block from a seeder, as an honest peer. */
async function takeBlock(port: number, infoHash: string) {
  const socket = await taker(port, infoHash)
  socket.write(request(0, 0, blockBytes))
  const block = piece(0, 0, file.bytes.subarray(0, blockBytes))
  let received = Buffer.alloc(0)
  while (!received.includes(block)) {
    received = Buffer.concat([received, (await once(socket, 'data'))[0]])
  }
  socket.destroy()
}

/** A peer that the seeder has unchoked. */
async function taker(port: number, infoHash: string): Promise<Socket> {
  const socket = await connectTo(port)
  socket.write(handshake(infoHash))
  let [said] = await once(socket, 'data')
  socket.write(interested)
  while (!said.includes(unchoke)) said = Buffer.concat([said, (await once(socket, 'data'))[0]])
  return socket
}

/** Waits until the number is not 0, and two reports of a seeder in a row, which are a second apart, contain it. */
async function untilUnchanged(read: () => number) {
  let last = 0
  const isUnchanged = () => {
    const before = last
    last = read()
    return last > 0 && last === before
  }
  await expect.poll(isUnchanged, { interval: 2_000 }).toBe(true)
}

slowTest(
  'a peer that requests a lot and reads late receives everything, and the seeder needs little memory',
  async () => {
    const large = syntheticFile(64 * mebibyte, 4 * mebibyte)
    const { port, infoHash, uploadedBytes, stillGives } = await scene(large)
    const socket = await taker(port, infoHash)
    socket.pause()
    const before = process.memoryUsage().rss
    const pieceBytes = pieceLengthFor(large.bytes.length)
    const blocks = Array.from(
      { length: large.bytes.length / blockBytes },
      (_, at) => at * blockBytes,
    )
    const requests = blocks.map((at) =>
      request(Math.floor(at / pieceBytes), at % pieceBytes, blockBytes),
    )
    socket.write(Buffer.concat(requests))
    await untilUnchanged(uploadedBytes)
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * mebibyte)
    let bytes = 0
    socket.on('data', (part) => {
      bytes += part.length
    })
    socket.resume()
    await expect.poll(() => bytes).toBeGreaterThanOrEqual(large.bytes.length)
    await stillGives()
  },
)

test('a peer that keeps sending requests is disconnected', async () => {
  const { port, infoHash, stillGives } = await scene()
  const socket = await taker(port, infoHash)
  socket.pause()
  pour(socket, Buffer.concat(Array.from({ length: 1000 }, (_, at) => request(0, at, blockBytes))))
  await expect.poll(() => socket.destroyed).toBe(true)
  await stillGives()
})

test('one address cannot take all connections', async () => {
  const { port, stillGives } = await scene()
  const sockets = await Promise.all(
    Array.from({ length: 300 }, () => connectTo(port, { from: '127.0.0.2' })),
  )
  const open = () => sockets.filter(({ destroyed }) => !destroyed).length
  for (const socket of sockets) socket.resume()
  await expect.poll(open).toBeLessThanOrEqual(32)
  await stillGives()
})
