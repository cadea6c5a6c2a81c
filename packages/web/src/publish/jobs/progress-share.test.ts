import { expect, test } from 'vitest'
import { type FileState, firstState, progressShare, type Stage } from './progress-share.ts'

const file = (stage: Stage | 'queued', bytesDone: number, sizeBytes = 100): FileState => ({
  filename: `${stage}.gguf`,
  sizeBytes,
  stage,
  bytesDone,
})

test('the share of a file grows from 0 to 1 through all its stages', () => {
  const states = [
    file('queued', 0),
    file('hashing', 0),
    file('hashing', 50),
    file('hashing', 100),
    file('sending', 0),
    file('sending', 50),
    file('sending', 100),
    file('checking', 100),
    file('ready', 100),
  ]
  const shares = states.map((state) => progressShare([state]))
  expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  expect([shares[0], shares.at(-1)]).toEqual([0, 1])
  expect(shares[2]).toBeGreaterThan(0)
  expect(shares[5]).toBeGreaterThan(shares[4] ?? 1)
})

test('a large file counts more than a small one, and a refused one counts as done', () => {
  expect(progressShare([file('ready', 900, 900), file('queued', 0, 100)])).toBeCloseTo(0.9)
  expect(progressShare([file('refused', 100)])).toBe(1)
})

test('a job that was interrupted starts with what has been done', () => {
  const about = { filename: 'tide.gguf', sizeBytes: 20 * 1024 * 1024, lastModified: 0 }
  const hashes = { firstHash: '', chunkHashes: new Uint8Array(32), state: new Uint8Array() }
  const partial = { ...hashes, bytesDone: 16 * 1024 * 1024 }
  expect(firstState(about)).toMatchObject({ stage: 'queued', bytesDone: 0 })
  expect(firstState({ ...about, partial })).toMatchObject({
    stage: 'hashing',
    bytesDone: 16 * 1024 * 1024,
  })
  expect(firstState({ ...about, isReady: true })).toMatchObject({
    stage: 'ready',
    bytesDone: about.sizeBytes,
  })
})
