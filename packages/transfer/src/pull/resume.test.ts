import {
  closeSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { expect, test } from 'vitest'
import { getFilePaths } from '../disk/file-paths.ts'
import { startChildPull } from '../testing/child-pull.ts'
import { filterEvents, type PullScene, pullScene } from '../testing/pull-scene.ts'
import { inThreads, quickTuning } from '../testing/quick-tuning.ts'
import { smallChunk, syntheticFile, toModelFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(12 * smallChunk + 345)

/** Pulls the first `chunks` chunks, then stops. */
async function stopAfter(chunks: number, { origin, pull, events }: PullScene) {
  origin.script = ({ index }) => (index >= chunks ? { stallAfter: 0 } : undefined)
  const abort = new AbortController()
  const timer = setInterval(() => {
    const done = filterEvents(events, 'progress').at(-1)?.bytesDone
    if (done === chunks * smallChunk) abort.abort()
  }, 10)
  await pull({ signal: abort.signal }).catch((error) => {
    if (!abort.signal.aborted) throw error
  })
  clearInterval(timer)
  origin.script = () => undefined
  origin.requests.length = 0
  events.length = 0
}

function overwrite(path: string, position: number, text: string) {
  const fd = openSync(path, 'r+')
  writeSync(fd, text, position)
  closeSync(fd)
}

test('a second pull downloads only what is missing', async () => {
  const scene = await pullScene(file)
  await stopAfter(7, scene)
  const pulled = await scene.pull()
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(pulled).toMatchObject({
    resumedBytes: 7 * smallChunk,
    downloadedBytes: file.bytes.length - 7 * smallChunk,
  })
  const types = scene.events.map(({ type }) => type)
  expect(types.indexOf('checking')).toBeLessThan(types.indexOf('resumed'))
  expect(filterEvents(scene.events, 'resumed')).toEqual([
    { type: 'resumed', bytes: 7 * smallChunk },
  ])
  const done = filterEvents(scene.events, 'progress').map(({ bytesDone }) => bytesDone)
  expect(done[0]).toBeGreaterThanOrEqual(7 * smallChunk)
})

test('a pull killed with SIGKILL in the middle of a chunk resumes from there', async () => {
  const scene = await pullScene(file)
  scene.origin.script = () => ({ bytesPerSecond: 50_000 })
  const child = startChildPull(scene, file)
  await child.until((line) => line.type === 'progress' && line.bytesDone > 2 * smallChunk)
  child.process.kill('SIGKILL')
  expect(await child.exit).toBe('SIGKILL')
  const shown = child.lines.findLast((line) => line.type === 'progress')
  scene.origin.script = () => undefined

  const pulled = await scene.pull()
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(pulled.resumedBytes).toBeGreaterThanOrEqual(shown?.bytesDone ?? Number.NaN)
  expect(pulled.resumedBytes + pulled.downloadedBytes).toBe(file.bytes.length)
})

test('a chunk lost by the disk, as after a power failure, is detected, and only that chunk is downloaded again', async () => {
  const scene = await pullScene(file)
  await stopAfter(7, scene)
  overwrite(getFilePaths(scene.path).partial, 2 * smallChunk + 5, 'lost in the dark')
  const pulled = await scene.pull({ tuning: { ...quickTuning, ...inThreads } })
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(filterEvents(scene.events, 'bad-chunk')).toEqual([
    { type: 'bad-chunk', index: 2, source: 'this disk' },
  ])
  expect(pulled).toMatchObject({ resumedBytes: 6 * smallChunk, droppedChunks: [] })
})

test('a partial chunk lost by the disk is downloaded again in full', async () => {
  const scene = await pullScene(file)
  scene.origin.script = ({ index, before }) =>
    index === 3 ? ({ [before === 0 ? 'cutAfter' : 'stallAfter']: 30_000 } as never) : undefined
  const abort = new AbortController()
  const isCut = () => scene.origin.requests.some(({ index, before }) => index === 3 && before === 1)
  const timer = setInterval(() => isCut() && abort.abort(), 20)
  await expect(scene.pull({ signal: abort.signal })).rejects.toThrow()
  clearInterval(timer)
  scene.origin.script = () => undefined
  overwrite(getFilePaths(scene.path).partial, 3 * smallChunk + 5, 'lost in the dark')
  await scene.pull()
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
})

test.each([
  ['is missing', (journal: string) => rmSync(journal)],
  ['is empty', (journal: string) => writeFileSync(journal, '')],
  ['is garbage', (journal: string) => writeFileSync(journal, 'x'.repeat(300))],
  [
    'is truncated',
    (journal: string) => writeFileSync(journal, readFileSync(journal).subarray(0, -3)),
  ],
  [
    'has a number that is too large',
    (journal: string) => overwrite(journal, statSync(journal).size - 4, '\xff\x7f'),
  ],
])('if the journal %s, the good bytes are found and kept', async (_, damage) => {
  const scene = await pullScene(file)
  await stopAfter(7, scene)
  damage(getFilePaths(scene.path).journal)
  const pulled = await scene.pull()
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(pulled.resumedBytes).toBe(7 * smallChunk)
  expect(filterEvents(scene.events, 'starting-over')).toHaveLength(1)
  expect(filterEvents(scene.events, 'bad-chunk')).toEqual([])
})

test('chunks that are complete only according to the journal are downloaded', async () => {
  const scene = await pullScene(file)
  await stopAfter(7, scene)
  const { journal } = getFilePaths(scene.path)
  const bytes = readFileSync(journal)
  bytes.writeInt32LE(smallChunk, bytes.length - 3 * 4)
  writeFileSync(journal, bytes)
  expect(await scene.pull()).toMatchObject({ resumedBytes: 7 * smallChunk })
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
})

test('the partial file of a different file is discarded, and this is reported', async () => {
  const former = await pullScene(file)
  await stopAfter(7, former)
  const other = syntheticFile(9 * smallChunk, smallChunk, 2)
  const scene = await pullScene(other)
  const { path } = former
  const pulled = await scene.pull({ path, file: toModelFile(other) })
  expect(readFileSync(path).equals(other.bytes)).toBe(true)
  expect(pulled.resumedBytes).toBe(0)
  expect(filterEvents(scene.events, 'starting-over')).toHaveLength(1)
})
