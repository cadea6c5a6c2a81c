import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { directNetwork } from '@shoal/network'
import { expect, test } from 'vitest'
import { newBoard } from '../chunks/board.ts'
import { temporaryDirectory } from '../testing/pull-scene.ts'
import { computeSha256 } from '../testing/synthetic-file.ts'
import { inlineChunkWorker } from './inline-chunk-worker.ts'

test('a chunk whose bytes are all on disk is hashed, not requested', async () => {
  const path = join(temporaryDirectory(), 'partial')
  writeFileSync(path, 'all of it')
  const setup = {
    path,
    connections: 1,
    network: directNetwork,
    stallMs: 100,
    board: newBoard(1),
  }
  const worker = inlineChunkWorker(setup)
  const sha256 = computeSha256(Buffer.from('all of it'))
  const request = {
    url: 'http://127.0.0.1:1/nobody-listens',
    yields: 'file' as const,
    fileSizeBytes: 9,
    chunk: { index: 0, start: 0, size: 9, sha256 },
    from: 9,
    to: 9,
  }
  expect(await worker.fetch(request, new AbortController().signal)).toBe(sha256)
  await worker.close()
})
