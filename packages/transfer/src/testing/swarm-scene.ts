import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { infoDictionary, infoHash, pieceLengthFor, torrentFile } from '@shoal/model-file'
import Tracker from 'bittorrent-tracker/server'
import { onTestFinished } from 'vitest'
import { type SeederOptions, startSeeder } from '../seed/seeder.ts'
import { pullScene, temporaryDirectory } from './pull-scene.ts'
import type { SyntheticFile } from './synthetic-file.ts'

/** A pull scene whose origin has a tracker and provides a torrent. */
export async function swarmScene(file: SyntheticFile) {
  const scene = await pullScene(file)
  const tracker = new Tracker({ udp: false, ws: false, stats: false, interval: 1000 })
  tracker.listen(0, '127.0.0.1')
  await once(tracker, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => tracker.close(() => resolve())))
  const { port } = tracker.http.address() as AddressInfo
  const announce = `http://127.0.0.1:${port}/announce`
  const info = makeInfo(file)
  const torrent = torrentFile({ info, announce, webSeeds: [] })
  scene.origin.swarm = { announce, torrent, infoHash: infoHash(info) }
  return {
    ...scene,
    tracker,
    /** Number of seeders known to the tracker. */
    seeds: () => tracker.torrents[infoHash(info)]?.complete,
    /** Starts a seeder that shares `bytes` as the content of the file; by default, the correct content. */
    async seeder(bytes: Uint8Array = file.bytes, setup: SeederOptions = {}) {
      const path = join(temporaryDirectory(), 'model.gguf')
      writeFileSync(path, bytes)
      const seeder = startSeeder({ host: '127.0.0.1', ...setup })
      onTestFinished(() => seeder.close())
      const known = once(tracker, 'start')
      const shared = { path, fileSizeBytes: file.bytes.length, torrent, isOpen: true }
      seeder.share(shared)
      await known
      return { ...seeder, shared }
    },
  }
}

function makeInfo({ bytes }: SyntheticFile): Uint8Array {
  const pieceLength = pieceLengthFor(bytes.length)
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceLength) }, (_, index) =>
    createHash('sha1')
      .update(bytes.subarray(index * pieceLength, (index + 1) * pieceLength))
      .digest(),
  )
  return infoDictionary({
    filename: 'model.gguf',
    fileSizeBytes: bytes.length,
    pieceLength,
    pieceHashes: Buffer.concat(pieces),
    isPrivate: false,
  })
}
