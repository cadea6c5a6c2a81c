import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startChildPull } from '../testing/child-pull.ts'
import { filterEvents, pullScene } from '../testing/pull-scene.ts'
import { relaxedTuning } from '../testing/quick-tuning.ts'
import { smallChunk, syntheticFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(12 * smallChunk + 345)

test('two simultaneous pulls of a file download the file once', async () => {
  const { pull, path, origin } = await pullScene(file)
  const tuning = relaxedTuning
  const both = await Promise.all([pull({ tuning }), pull({ tuning })])
  expect(both.map(({ alreadyThere }) => alreadyThere).sort()).toEqual([false, true])
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(origin.requests).toHaveLength(file.chunks.length)
})

test('while another process pulls the same file, a pull waits and reports that process’s progress, and it ends when the file is complete', async () => {
  const scene = await pullScene(file)
  scene.origin.script = () => ({ bytesPerSecond: 60_000 })
  const child = startChildPull(scene, file)
  await child.until((line) => line.type === 'progress' && line.bytesDone > smallChunk)
  const pulled = await scene.pull()
  expect(pulled).toMatchObject({ alreadyThere: true, downloadedBytes: 0 })
  expect(filterEvents(scene.events, 'waiting')).toHaveLength(1)
  expect(
    filterEvents(scene.events, 'progress').some(({ bytesDone }) => bytesDone > smallChunk),
  ).toBe(true)
  expect(await child.exit).toBe(0)
  expect(scene.origin.downloads).toBe(1)
})

test('a waiting pull takes over when the other process is killed', async () => {
  const scene = await pullScene(file)
  scene.origin.script = () => ({ bytesPerSecond: 40_000 })
  const child = startChildPull(scene, file)
  await child.until((line) => line.type === 'progress' && line.bytesDone > smallChunk)
  const pulling = scene.pull()
  await expect.poll(() => filterEvents(scene.events, 'waiting').length).toBe(1)
  scene.origin.script = () => undefined
  child.process.kill('SIGKILL')
  const pulled = await pulling
  expect(pulled.resumedBytes).toBeGreaterThan(smallChunk)
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
})
