import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import Wire from 'bittorrent-protocol'
import { beforeAll, expect, test } from 'vitest'
import { allPieces, extended, handshake, longLength, message, piece } from '../testing/raw-peer.ts'
import { guardWires } from './guard-wires.ts'

beforeAll(guardWires)

const keepAlive = Buffer.alloc(4)
const haveFirst = message(4, 0)
const repeat = (bytes: Uint8Array, times: number) =>
  Buffer.concat(Array.from({ length: times }, () => bytes))

/** Returns a function that lets a peer send bytes on a new connection, and says whether it is still connected. */
async function connect() {
  const wire = new Wire() as Wire & Duplex
  wire.on('error', () => undefined)
  wire.resume()
  const send = async (bytes: Uint8Array) => {
    wire.write(bytes)
    await setImmediate()
    return !wire.destroyed
  }
  await send(Buffer.concat([handshake('ab'.repeat(20)), allPieces(8)]))
  return send
}

test.each([
  // The message that the peer has all pieces counts too.
  ['keep-alive messages', keepAlive, 9_999],
  ['messages that it has a piece', haveFirst, 9_999],
  // 16 MiB, and a quarter of what was received
  ['blocks that nobody requested', piece(0, 0, new Uint8Array(16_384)), 1_365],
])('a peer that sends too many %s is disconnected', async (_, bytes, allowed) => {
  const send = await connect()
  expect(await send(repeat(bytes, allowed))).toBe(true)
  expect(await send(bytes)).toBe(false)
})

test('a peer that announces a message of more than 1 MiB is disconnected before it sends the message', async () => {
  const send = await connect()
  expect(await send(longLength)).toBe(false)
})

test('a peer that sends an extension message that is not bencoded is disconnected', async () => {
  const send = await connect()
  expect(await send(extended(0, 'd1:mde'))).toBe(false)
})

test('requests and news of pieces do not count as useless', async () => {
  const send = await connect()
  const news = Array.from({ length: 12_000 }, (_, index) => message(4, 100 + index))
  expect(await send(Buffer.concat(news))).toBe(true)
})
