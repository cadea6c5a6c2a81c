import { expect, test } from 'vitest'
import { type FileState, firstState, progressShare, type Stage } from './progress-share.ts'
import { withProgress } from './with-progress.ts'

const file = (stage: Stage | 'queued', bytesDone: number, sizeBytes = 100): FileState => ({
  filename: `${stage}.gguf`,
  sizeBytes,
  stage,
  bytesDone,
  bytesHashed: stage === 'queued' ? 0 : stage === 'hashing' ? bytesDone : sizeBytes,
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

test('the share of a file that is sent while it is being hashed never decreases', () => {
  const progress: [Stage, number][] = [
    ['hashing', 20],
    ['sending', 0],
    ['sending', 16],
    ['hashing', 60],
    ['sending', 8], // a chunk is sent again
    ['hashing', 100],
    ['sending', 100],
    ['checking', 100],
  ]
  let state = file('queued', 0)
  const states = progress.map(([stage, bytes]) => {
    state = withProgress(state, stage, bytes)
    return state
  })
  const shares = states.map((state) => progressShare([state]))
  expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  expect(shares.slice(0, 5).map((one) => Number(one.toFixed(3)))).toEqual([
    ...[0.04, 0.04, 0.168, 0.248, 0.248],
  ])
  expect(shares.at(-1)).toBe(1)
  expect(states[4]).toMatchObject({ stage: 'sending', bytesDone: 16, bytesHashed: 60 })
})

test('a large file counts more than a small one, and a refused one counts as done', () => {
  expect(progressShare([file('ready', 900, 900), file('queued', 0, 100)])).toBeCloseTo(0.9)
  expect(progressShare([file('refused', 100)])).toBe(1)
})

test('an interrupted job starts with the progress made before the interruption', () => {
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
