import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(2 * mebibyte, mebibyte)

const handshake = (infoHash: string) =>
  Buffer.concat([
    Buffer.from('\x13BitTorrent protocol'),
    Buffer.from([0, 0, 0, 0, 0, 0x10, 0, 0]), // extensions (BEP 10)
    Buffer.from(infoHash, 'hex'),
    Buffer.from('-XX0000-123456789012'),
  ])

const extended = (id: number, payload: string) => {
  const body = Buffer.concat([Buffer.from([20, id]), Buffer.from(payload, 'latin1')])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length)
  return Buffer.concat([length, body])
}

test.each<[string, (infoHash: string) => Buffer]>([
  ['zeros in place of a key', () => Buffer.alloc(700)],
  ['noise', () => Buffer.from(file.bytes.subarray(0, 4000))],
  ['a list that never ends', (hash) => Buffer.concat([handshake(hash), extended(0, 'l-3:e')])],
  ['a length of 4 GiB', (hash) => Buffer.concat([handshake(hash), Buffer.alloc(4, 0xff)])],
  ['nested lists', (hash) => Buffer.concat([handshake(hash), extended(0, 'l'.repeat(20_000))])],
])('a seeder survives %s, and goes on giving', async (_, attack) => {
  const { origin, path, pull, seeder } = await swarmScene(file)
  const seeding = await seeder()
  await expect.poll(() => seeding.standing().port, { timeout: 5_000 }).toBeGreaterThan(0)
  const { infoHash } = origin.swarm ?? { infoHash: '' }
  const socket = connect(seeding.standing().port, '127.0.0.1')
  socket.on('error', () => undefined) // being cut off is what is wanted
  await once(socket, 'connect')
  socket.write(attack(infoHash))
  setTimeout(() => socket.destroy(), 500)
  await pull({ peers: 'only', tuning: { stallMs: 5_000 } })
  expect(seeding.failure()).toBeUndefined()
  expect(path).toBeTruthy()
})
