import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { pieceLengthFor } from '@shoal/model-file'
import { expect, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { quickTuning } from '../testing/quick-tuning.ts'
import {
  allPieces,
  extended,
  handshake,
  listeningPeer,
  longLength,
  piece,
  pour,
  unchoke,
} from '../testing/raw-peer.ts'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(6 * mebibyte, 2 * mebibyte)
const pieces = Math.ceil(file.bytes.length / pieceLengthFor(file.bytes.length))
const tuning = { ...quickTuning, stallMs: 5_000, joinAfterMs: 50 }

const block = new Uint8Array(16_384)
const haves = Buffer.alloc(9 * 1000, Buffer.from([0, 0, 0, 5, 4, 0, 0, 0, 1]))

const attacks: [string, (socket: Socket) => void][] = [
  ['sends blocks that nobody requested', (socket) => pour(socket, piece(0, 0, block))],
  [
    'announces a message of 2 GiB, and sends it',
    (socket) => {
      socket.write(longLength)
      pour(socket, block)
    },
  ],
  ['sends a list that never ends', (socket) => socket.write(extended(0, 'l-3:e'))],
  ['endlessly repeats that it has a piece', (socket) => pour(socket, haves)],
  ['sends endless keep-alive messages', (socket) => pour(socket, Buffer.alloc(40_000))],
]

slowTest('a peer that attacks is disconnected, and the pull continues', async () => {
  // The attackers do not unchoke, so nothing is requested from them, and no timeout of a request cuts them off.
  const { attackers, pulling, seeder } = await pullBeside(attacks, [])
  const cutOff = () =>
    attackers.flatMap(({ name, sockets }) => ([...sockets].some(isDestroyed) ? [name] : []))
  await expect.poll(cutOff).toEqual(attacks.map(([name]) => name))
  expect(await Promise.race([pulling, 'still running'])).toBe('still running')
  await seeder()
  await pulling
})

const isDestroyed = ({ destroyed }: Socket) => destroyed

test('a pull completes even if a peer claims to have every piece but sends nothing', async () => {
  const { attackers, pulling, seeder } = await pullBeside(
    [['sends nothing', () => undefined]],
    [unchoke],
  )
  await expect.poll(() => attackers[0]?.sockets.size).toBeGreaterThan(0)
  await seeder()
  await pulling
})

/** A pull that first knows only peers that claim to have every piece, send `more`, and then run an attack each. */
async function pullBeside(attacks: [string, (socket: Socket) => void][], more: Uint8Array[]) {
  const { origin, path, pull, seeder } = await swarmScene(file)
  const { announce = '', infoHash = '' } = origin.swarm ?? {}
  const attackers = await Promise.all(
    attacks.map(async ([name, attack]) => {
      const { sockets } = await listeningPeer(announce, infoHash, (socket) => {
        socket.write(Buffer.concat([handshake(infoHash), allPieces(pieces), ...more]))
        if (sockets.size === 1) attack(socket) // not again when the pull reconnects
      })
      return { name, sockets }
    }),
  )
  const pulling = pull({ peers: 'only', tuning }).then(() => {
    expect(readFileSync(path).equals(file.bytes)).toBe(true)
  })
  return { attackers, pulling, seeder }
}
