import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { pieceLengthFor } from '@shoal/model-file'
import { expect, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { quickTuning } from '../testing/quick-tuning.ts'
import {
  allPieces,
  handshake,
  listeningPeer,
  longLength,
  pour,
  unchoke,
} from '../testing/raw-peer.ts'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(6 * mebibyte, 2 * mebibyte)
const pieces = Math.ceil(file.bytes.length / pieceLengthFor(file.bytes.length))
const tuning = { ...quickTuning, stallMs: 5_000, joinAfterMs: 50 }

slowTest('a peer that attacks is disconnected, and the pull continues', async () => {
  const { pulling, sockets } = await pullBeside((socket) => {
    socket.write(longLength)
    pour(socket, new Uint8Array(16_384))
  })
  const isCutOff = () => [...sockets].some((socket) => socket.destroyed)
  await expect.poll(isCutOff).toBe(true)
  expect(await Promise.race([pulling, 'still running'])).toBe('still running')
  await pulling
})

test('a pull completes even if a peer claims to have every piece but sends nothing', async () => {
  const { pulling, sockets } = await pullBeside(() => undefined)
  await pulling
  expect(sockets.size).toBeGreaterThan(0)
})

/** A slow, honest peer has the file, and another peer runs `attack`. */
async function pullBeside(attack: (socket: Socket) => void) {
  const { origin, path, pull, seeder } = await swarmScene(file)
  const { announce = '', infoHash = '' } = origin.swarm ?? {}
  await seeder(file.bytes, { uploadLimit: 2e6 })
  const { sockets } = await listeningPeer(announce, infoHash, (socket) => {
    socket.write(Buffer.concat([handshake(infoHash), allPieces(pieces), unchoke]))
    attack(socket)
  })
  const pulling = pull({ peers: 'only', tuning }).then(() => {
    expect(readFileSync(path).equals(file.bytes)).toBe(true)
  })
  return { pulling, sockets }
}
