import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { directNetwork } from '@shoal/network'
import { expect, onTestFinished, test } from 'vitest'
import { newBoard } from '../chunks/board.ts'
import { type Chunk, parseManifest } from '../chunks/manifest.ts'
import { piecesHere } from '../chunks/pieces-here.ts'
import { pullScene, temporaryDirectory } from '../testing/pull-scene.ts'
import { mebibyte, syntheticFile, toDownload, toModelFile } from '../testing/synthetic-file.ts'
import { inlineChunkWorker } from '../workers/inline-chunk-worker.ts'
import { httpSource } from './http-source.ts'

/** A single chunk of eight pieces. */
const file = syntheticFile(8 * mebibyte, 8 * mebibyte)

/** The first 1.5 MiB of the chunk are on disk, and so are three pieces from peers, including the last piece. */
async function scene() {
  const { origin } = await pullScene(file)
  const download = toDownload(file, origin.url)
  const manifest = parseManifest(download, toModelFile(file))
  const [chunk] = manifest.chunks as [Chunk]
  const board = newBoard(1)
  const pieces = piecesHere({ manifest, pieceLength: mebibyte, board })
  const partial = Buffer.alloc(file.bytes.length)
  file.bytes.copy(partial, 0, 0, 1.5 * mebibyte)
  for (const piece of [2, 4, 7]) {
    file.bytes.copy(partial, piece * mebibyte, piece * mebibyte, (piece + 1) * mebibyte)
    pieces.add(piece, ['127.0.0.1:6881'])
  }
  const path = join(temporaryDirectory(), 'model.gguf.part')
  writeFileSync(path, partial)
  const worker = inlineChunkWorker({
    path,
    connections: 1,
    stallMs: 5_000,
    network: directNetwork,
    board,
  })
  onTestFinished(() => worker.close())
  const { signal } = new AbortController()
  const source = httpSource({
    baseUrl: origin.url,
    download,
    manifest,
    board,
    pieces,
    workers: [worker],
    connections: 1,
    turn: async () => signal,
    isKept: false,
    renew: async () => download,
  })
  return {
    origin,
    /** The start and the end of each requested range, in MiB. */
    asked: () => origin.requests.map(({ start, end }) => [start / mebibyte, end / mebibyte]),
    fetch: (from: number) => source.fetch({ chunk, from, timesBad: 0, signal }, 0, signal),
  }
}

test('only the gaps between pieces from peers are requested from the registry, and the chunk is good', async () => {
  const { asked, fetch } = await scene()
  expect((await fetch(1.5 * mebibyte)).sha256).toBe(file.chunks[0]?.hash)
  expect(asked()).toEqual([
    [1.5, 2],
    [3, 4],
    [5, 7],
  ])
})

test('a damaged chunk with several senders is downloaded again in full, and all senders are reported', async () => {
  const { origin, asked, fetch } = await scene()
  origin.script = ({ start }) => (start === 3 * mebibyte ? { flipByteAt: 5 } : undefined)
  const { sha256, sender } = await fetch(1.5 * mebibyte)
  expect(sha256).not.toBe(file.chunks[0]?.hash)
  expect(sender).toBe(`${new URL(origin.url).host}, 127.0.0.1:6881`)
  expect((await fetch(0)).sha256).toBe(file.chunks[0]?.hash)
  expect(asked().at(-1)).toEqual([0, 8])
})
