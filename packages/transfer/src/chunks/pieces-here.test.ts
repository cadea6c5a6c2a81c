import { expect, test } from 'vitest'
import { newBoard } from './board.ts'
import type { Chunk, Manifest } from './manifest.ts'
import { piecesHere } from './pieces-here.ts'

const sizes = { fileSizeBytes: 24, chunkSize: 6 }
const chunks = [0, 1, 2, 3].map((index) => ({ index, start: index * 6, size: 6, sha256: '' }))
const manifest: Manifest = { ...sizes, sha256: '', chunks }

test('every piece that overlaps a bad chunk is forgotten, even one that spans two chunks', () => {
  const pieces = piecesHere({ manifest, pieceLength: 8, board: newBoard(chunks.length) })
  for (const piece of [0, 1, 2]) pieces.add(piece, ['somebody'])
  const bad = chunks[1] as Chunk
  pieces.forget(bad)
  expect(pieces.findGap(bad, 0)).toEqual({ from: 0, to: 6 })
})
