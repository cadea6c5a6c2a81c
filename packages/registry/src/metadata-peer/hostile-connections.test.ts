import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Transform } from 'node:stream'
import { seededRandom } from '@shoal/core/testing'
import { expect, onTestFinished, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { connectWire, fetchMetadata } from '../testing/metadata-client.ts'
import { bigInfo, bigInfoHash, bigInfoSource, startTestPeer } from '../testing/metadata-peer.ts'
import {
  askFor,
  extended,
  extensionHandshake,
  handshake,
  message,
} from '../testing/peer-messages.ts'
import { Departure, Refusal } from './errors.ts'
import { MetadataReader } from './reader.ts'
import { giveMetadata } from './session.ts'

type Random = (below: number) => number

const honest = Buffer.concat([
  handshake(bigInfoHash),
  message(5, Buffer.alloc(100)),
  extensionHandshake,
  message(2),
  extended(2, 'd1:ai1ee'),
  ...[0, 1, 2, 3, 4, 5, 6].map(askFor),
])
const tokens = [
  'i',
  'e',
  'd',
  'l',
  ':',
  '-',
  '0:',
  '9999999999:',
  'i-1e',
  '\0\0\0\0',
  '\xff\xff\xff\xff',
]

/**
 * Makes one to four random changes: overwrites a byte, overwrites or inserts a fragment of bencode or an extreme
 * length, repeats the remaining bytes, or cuts them off.
 */
function mutate(original: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(original)
  for (let changes = 1 + random(4); changes > 0; changes -= 1) {
    const place = random(bytes.length)
    const token = Buffer.from(tokens[random(tokens.length)] ?? '', 'latin1')
    const kind = random(16)
    const after = (skipped: number) => bytes.subarray(place + skipped)
    if (kind < 6) bytes[place] = random(256)
    else if (kind < 10) bytes.set(token.subarray(0, bytes.length - place), place)
    else if (kind < 13) bytes = Buffer.concat([bytes.subarray(0, place), token, after(0)])
    else if (kind < 15) bytes = Buffer.concat([bytes, bytes.subarray(place)])
    else bytes = bytes.subarray(0, place + 1)
  }
  return bytes
}

async function* inPieces(bytes: Buffer, random: Random): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + random(200)
    yield bytes.subarray(at, end)
    at = end
  }
}

slowTest(
  'each of five thousand corrupted connections ends quickly and with a known outcome',
  async () => {
    const random = seededRandom(20_251_121)
    const ends = { given: 0, enough: 0, refused: 0, left: 0 }
    const before = process.threadCpuUsage()
    for (let run = 0; run < 5_000; run += 1) {
      let sent = 0
      const reader = new MetadataReader(inPieces(mutate(honest, random), random))
      const write = async (bytes: Uint8Array) => {
        sent += bytes.length
      }
      const session = {
        source: bigInfoSource,
        peerId: randomBytes(20),
        onProgress: () => undefined,
      }
      await giveMetadata({ reader, write }, session).then(
        (isGiven) => {
          ends[isGiven ? 'given' : 'enough'] += 1
        },
        (error) => {
          expect([Departure, Refusal], `run ${run}: ${error.stack}`).toContain(error.constructor)
          ends[error instanceof Refusal ? 'refused' : 'left'] += 1
        },
      )
      expect(sent, `run ${run}`).toBeLessThan(4 * bigInfo.length)
    }
    const { user, system } = process.threadCpuUsage(before)
    expect(user + system).toBeLessThan(15e6) // microseconds
    expect(Math.min(ends.given, ends.refused, ends.left)).toBeGreaterThan(300)
  },
)

test('after hundreds of connections with noise, corrupted messages and incomplete handshakes, the peer still serves metadata', async () => {
  const random = seededRandom(7)
  const { peer, warnings } = await startTestPeer({
    limits: { refusedMs: 0, handshakeMs: 300, idleMs: 300, maxPerNetwork: 100 },
  })
  const noise = () => {
    const kind = random(3)
    if (kind === 0) return randomBytes(1 + random(3_000))
    if (kind === 1) return mutate(honest, random)
    return honest.subarray(0, random(handshake(bigInfoHash).length))
  }
  for (let round = 0; round < 8; round += 1) {
    await Promise.all(
      Array.from({ length: 60 }, () => {
        const socket = connect(peer.port, '127.0.0.1').resume()
        socket.on('error', () => socket.destroy())
        if (random(2) === 0) socket.end(noise())
        else socket.write(noise())
        return new Promise((resolve) => socket.once('close', resolve))
      }),
    )
  }
  expect(warnings).toEqual([])
  expect((await fetchMetadata(peer.port, bigInfoHash, 'required')).includes(bigInfo)).toBe(true)
})

slowTest(
  'encrypted connections with corrupted bytes end, and do not affect other connections',
  async () => {
    const random = seededRandom(11)
    const { peer, warnings, count } = await startTestPeer({
      limits: { refusedMs: 0, handshakeMs: 500, idleMs: 500, maxPerNetwork: 100 },
    })
    const relay = createServer((client) => {
      const onward = connect(peer.port, '127.0.0.1')
      let bytesUntilDamage = random(400) // the client sends about 700 bytes, most of which are padding
      const damage = new Transform({
        transform(piece: Buffer, _encoding, done) {
          if (bytesUntilDamage < piece.length) piece.writeUInt8(random(256), bytesUntilDamage)
          bytesUntilDamage =
            bytesUntilDamage < piece.length ? Infinity : bytesUntilDamage - piece.length
          done(null, piece)
        },
      })
      client.pipe(damage).pipe(onward).pipe(client)
      client.on('error', () => onward.destroy()).on('close', () => onward.destroy())
      onward.on('error', () => client.destroy()).on('close', () => client.destroy())
    })
    await once(relay.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void relay.close())
    const { port } = relay.address() as AddressInfo
    const ends = await Promise.all(
      Array.from(
        { length: 90 },
        async () => (await connectWire(port, bigInfoHash, 'required')).closed,
      ),
    )
    expect(ends).toHaveLength(90)
    expect(await count('refused')).toBeGreaterThan(5)
    expect(warnings).toEqual([])
    expect((await fetchMetadata(peer.port, bigInfoHash, 'required')).includes(bigInfo)).toBe(true)
  },
)
