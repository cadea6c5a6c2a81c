import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventsOf } from '../testing/pull-scene.ts'
import { quickTuning } from '../testing/quick-tuning.ts'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(12 * mebibyte, 4 * mebibyte)
const tuning = { ...quickTuning, stallMs: 5_000, joinAfterMs: 50 }
const slowly = () => ({ bytesPerSecond: 50_000 })

test('from peers alone, the registry is asked for no byte', async () => {
  const { origin, path, pull, seeder } = await swarmScene(file)
  await seeder()
  const pulled = await pull({ peers: 'only', tuning })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(origin.requests).toEqual([])
  expect(pulled).toMatchObject({ downloadedBytes: file.bytes.length, droppedChunks: [] })
})

test('where the registry is slow, peers bring the rest', async () => {
  const { origin, path, events, pull, seeder } = await swarmScene(file)
  await seeder()
  origin.script = slowly
  await pull({ peers: 'auto', tuning })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  const { sources = [] } = eventsOf(events, 'progress').at(-1) ?? {}
  const fromPeers = sources
    .filter(({ isPeer }) => isPeer)
    .reduce((sum, { bytes }) => sum + bytes, 0)
  expect(fromPeers).toBeGreaterThan(file.bytes.length / 2)
})

test('a registry that is fast is asked alone', async () => {
  const { path, events, pull, seeder } = await swarmScene(file)
  await seeder()
  await pull({ peers: 'auto', tuning: { ...tuning, fastBytesPerSecond: 1 } })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(eventsOf(events, 'progress').at(-1)?.sources).toHaveLength(1)
})

test('a peer that sends other bytes is named and asked no more, and the file is right', async () => {
  const { origin, path, pull, seeder } = await swarmScene(file)
  const wrong = Buffer.from(file.bytes)
  // Not at its beginning, which the seeder looks at itself.
  for (let at = 2 * mebibyte; at < wrong.length; at += 100_000) wrong[at] = (wrong[at] ?? 0) ^ 1
  await seeder(wrong)
  origin.script = slowly
  setTimeout(() => {
    origin.script = () => undefined
  }, 4000)
  const { droppedChunks } = await pull({ peers: 'auto', tuning })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(droppedChunks.length).toBeGreaterThan(0)
  for (const { source } of droppedChunks) expect(source).toMatch(/^127\.0\.0\.1:\d+$/)
})

test('a registry that dies in the middle is not missed', async () => {
  const { origin, path, pull, seeder } = await swarmScene(file)
  await seeder()
  origin.script = slowly
  const pulling = pull({ peers: 'auto', tuning })
  await expect.poll(() => origin.requests.length).toBeGreaterThan(0)
  setTimeout(() => origin.close(), 300)
  await pulling
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
})

test('who pulls gives what it has to others', async () => {
  const first = await swarmScene(file)
  first.origin.script = () => ({ bytesPerSecond: 800_000 })
  const other = `${first.path}-2`
  const peers = 'auto'
  await Promise.all([first.pull({ peers, tuning }), first.pull({ peers, tuning, path: other })])
  expect(readFileSync(first.path).equals(file.bytes)).toBe(true)
  expect(readFileSync(other).equals(file.bytes)).toBe(true)
})

test('where the registry has no torrent for us, it is asked alone, and that is said', async () => {
  const { origin, path, events, pull } = await swarmScene(file)
  if (origin.swarm) origin.swarm.torrent = undefined
  origin.script = () => ({ bytesPerSecond: 8_000_000 })
  await pull({ peers: 'auto', tuning })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(eventsOf(events, 'without-peers')).toHaveLength(1)
})

test('from peers alone, it fails at once where the registry has no torrent for us', async () => {
  const { origin, pull } = await swarmScene(file)
  if (origin.swarm) origin.swarm.torrent = undefined
  await expect(pull({ peers: 'only', tuning })).rejects.toThrow('without peers: not found')
})

test('nobody is asked who was not allowed to be', async () => {
  const { path, events, pull, seeder } = await swarmScene(file)
  await seeder()
  await pull({ tuning })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(eventsOf(events, 'progress').at(-1)?.sources).toHaveLength(1)
})
