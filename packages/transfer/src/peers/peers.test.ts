import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { sleep } from '@shoal/core/async'
import { expect, onTestFinished, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import type { PullEvent } from '../events.ts'
import { filterEvents } from '../testing/pull-scene.ts'
import { quickTuning } from '../testing/quick-tuning.ts'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(6 * mebibyte, 2 * mebibyte)
const tuning = { ...quickTuning, stallMs: 5_000, joinAfterMs: 50, turnMs: 2_000 }
const slowly = () => ({ bytesPerSecond: 20_000 })

slowTest('if only peers may be used, no byte is requested from the registry', async () => {
  const { origin, path, pull, seeder } = await swarmScene(file)
  await seeder()
  const pulled = await pull({ peers: 'only', tuning })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(origin.requests).toEqual([])
  expect(pulled).toMatchObject({ downloadedBytes: file.bytes.length, droppedChunks: [] })
})

test('a peer that sends wrong bytes is reported and not used again, and the file is correct', async () => {
  const { origin, path, pull, seeder } = await swarmScene(file)
  const wrong = Buffer.from(file.bytes)
  // The beginning is correct, because the seeder itself checks it.
  for (let at = 2 * mebibyte; at < wrong.length; at += 100_000) wrong[at] = (wrong[at] ?? 0) ^ 1
  const { status } = await seeder(wrong)
  const isCutOff = () => status().files.some((one) => one.uploadedBytes > 0 && one.peers === 0)
  origin.script = () => (isCutOff() ? undefined : slowly())
  const { droppedChunks } = await pull({ peers: 'auto', tuning })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(droppedChunks.length).toBeGreaterThan(0)
  for (const { source } of droppedChunks) expect(source).toMatch(/^127\.0\.0\.1:\d+$/)
})

slowTest(
  'when a pull switches from the registry to peers and back, almost nothing is received twice',
  async () => {
    const large = syntheticFile(24 * mebibyte, 8 * mebibyte)
    const { origin, path, pull, seeder } = await swarmScene(large)
    const { pause } = await seeder(large.bytes, { uploadLimit: 4 * mebibyte })
    origin.script = () => ({ bytesPerSecond: 100_000 })
    const goOnAlone = (event: PullEvent) => {
      const sources = event.type === 'progress' ? event.sources.filter(({ isPeer }) => isPeer) : []
      if (sources.reduce((sum, { bytes }) => sum + bytes, 0) < 8 * mebibyte) return
      pause()
      origin.script = () => ({ bytesPerSecond: 20_000_000 })
    }
    const { wastedBytes, sources } = await pull({
      peers: 'auto',
      tuning: { ...tuning, turnMs: 600 },
      onEvent: goOnAlone,
    })
    expect(readFileSync(path).equals(large.bytes)).toBe(true)
    const [registry] = sources.filter(({ isPeer }) => !isPeer)
    expect(registry?.bytes).toBeGreaterThan(large.bytes.length / 3)
    // At each of the two switches, the piece in transit may be received twice. The pieces that peers have sent out of
    // order, about 8 MiB, are not received again.
    expect(wastedBytes).toBeLessThan(2.5 * mebibyte)
  },
)

test('peers complete a pull whose registry fails', async () => {
  const { origin, path, pull, seeder, tracker } = await swarmScene(file)
  await seeder()
  origin.script = slowly
  const announced = once(tracker, 'start')
  const pulling = pull({ peers: 'auto', tuning })
  await announced // the pull has loaded the torrent
  origin.close()
  await pulling
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
})

slowTest('concurrent pulls find each other, and share what they have', async () => {
  const large = syntheticFile(16 * mebibyte, 4 * mebibyte)
  const { origin, path, pull } = await swarmScene(large)
  // Pulls in the swarm request pieces of 1 MiB, others whole chunks.
  origin.script = ({ start, end }) =>
    end - start > mebibyte ? slowly() : { bytesPerSecond: 500_000 }
  const onEvent = (event: PullEvent) => {
    const isSharing = event.type === 'progress' && event.sources.some(({ isPeer }) => isPeer)
    if (isSharing) origin.script = () => undefined
  }
  const paths = [path, `${path}-2`]
  const pulled = await Promise.all(
    paths.map((at) => pull({ peers: 'auto', tuning, path: at, onEvent })),
  )
  for (const at of paths) expect(readFileSync(at).equals(large.bytes)).toBe(true)
  expect(pulled.flatMap(({ sources }) => sources).some(({ isPeer }) => isPeer)).toBe(true)
})

test('a pull that finds no peers announces itself, but starts no BitTorrent client', async () => {
  const { origin, path, pull, tracker } = await swarmScene(file)
  origin.script = slowly
  const threads = countThreads()
  const known = once(tracker, 'start')
  const left = once(tracker, 'stop')
  const pulling = pull({ peers: 'auto', tuning })
  await known
  origin.script = () => ({ bytesPerSecond: 4_000_000 })
  await Promise.all([pulling, left])
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(threads.count()).toBe(0)
})

test('if the registry is slow, a peer that joins during the pull delivers the rest', async () => {
  const { origin, path, pull, seeder, tracker } = await swarmScene(file)
  origin.script = slowly
  const known = once(tracker, 'start')
  const pulling = pull({ peers: 'auto', tuning })
  await known
  await seeder() // the seeder connects
  const { sources } = await pulling
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  const fromPeers = sources.filter(({ isPeer }) => isPeer)
  expect(fromPeers.reduce((sum, { bytes }) => sum + bytes, 0)).toBeGreaterThan(
    file.bytes.length / 2,
  )
})

test('a failure to leave the swarm gracefully is reported, but the pull succeeds', async () => {
  const { path, events, pull, seeder } = await swarmScene(file)
  await seeder()
  onThread(breakClose)
  await pull({ peers: 'only', tuning })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(filterEvents(events, 'without-peers')).toEqual([
    { type: 'without-peers', reason: expect.stringContaining('could not leave the swarm cleanly') },
  ])
  expect(events.at(-1)?.type).toBe('done')
})

/** Counts the threads that are started from now on. */
function countThreads() {
  let count = 0
  onThread(() => {
    count += 1
  })
  return { count: () => count }
}

/** Makes every call to `close` fail. */
function breakClose(thread: Worker) {
  const { postMessage } = thread
  thread.postMessage = (message: { id?: number; method?: string }) => {
    if (message.method !== 'close') return postMessage.call(thread, message)
    const error = { name: 'Error', message: 'the socket is stuck', own: {} }
    queueMicrotask(() => thread.emit('message', { id: message.id, error }))
  }
}

/** Calls `listener` with each thread that is started from now on. */
function onThread(listener: (thread: Worker) => void) {
  process.on('worker', listener)
  onTestFinished(() => {
    process.off('worker', listener)
  })
}

test('if the registry provides no torrent, only the registry is used, and this is reported', async () => {
  const { origin, path, events, pull } = await swarmScene(file)
  if (origin.swarm) origin.swarm.torrent = undefined
  const isReported = () => filterEvents(events, 'without-peers').length > 0
  origin.script = () => (isReported() ? undefined : slowly())
  await pull({ peers: 'auto', tuning })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(filterEvents(events, 'without-peers')).toHaveLength(1)
})

test('if only peers may be used, a pull fails immediately if the registry provides no torrent', async () => {
  const { origin, pull } = await swarmScene(file)
  if (origin.swarm) origin.swarm.torrent = undefined
  await expect(pull({ peers: 'only', tuning })).rejects.toThrow('not found')
})

test('if only peers may be used, the pull does not time out while the torrent is being loaded', async () => {
  const { origin, pull } = await swarmScene(file)
  if (origin.swarm) origin.swarm.torrent = undefined
  const impatient = { ...tuning, stallMs: 20, timeoutMs: 100 }
  origin.beforeTorrent = sleep(6 * impatient.timeoutMs)
  await expect(pull({ peers: 'only', tuning: impatient })).rejects.toThrow('not found')
})

test('by default, a pull uses no peers', async () => {
  const { origin, path, events, pull, tracker } = await swarmScene(file)
  origin.script = () => ({ bytesPerSecond: 8_000_000 })
  await pull({ tuning: { ...tuning, joinAfterMs: 0 } })
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
  expect(filterEvents(events, 'progress').at(-1)?.sources).toHaveLength(1)
  expect(tracker.torrents).toEqual({})
})

test('if only peers may be used, a pull fails with the cause if the tracker cannot be reached', async () => {
  const { origin, pull } = await swarmScene(file)
  if (origin.swarm) origin.swarm.announce = 'http://127.0.0.1:9/announce'
  const giving = { ...tuning, stallMs: 300, timeoutMs: 900 }
  const failure = await pull({ peers: 'only', tuning: giving }).catch((error) => error)
  expect(failure.failure).toMatchObject({ code: 'unreachable', reason: 'refused' })
})

test('a file whose chunks are not whole pieces is downloaded only from the registry, and this is reported', async () => {
  const odd = syntheticFile(6 * mebibyte, 0.75 * mebibyte)
  const { origin, path, events, pull } = await swarmScene(odd)
  const isReported = () => filterEvents(events, 'without-peers').length > 0
  origin.script = () => (isReported() ? undefined : slowly())
  await pull({ peers: 'auto', tuning })
  expect(readFileSync(path).equals(odd.bytes)).toBe(true)
  expect(filterEvents(events, 'without-peers')).toHaveLength(1)
})
