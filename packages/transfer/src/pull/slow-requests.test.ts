import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { runsSlowTests } from '../../../../testing/slow.ts'
import { pullScene } from '../testing/pull-scene.ts'
import type { BytesRequest, ScriptedOrigin } from '../testing/scripted-origin.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'

const slowTest = test.runIf(runsSlowTests)
const file = syntheticFile(12 * mebibyte + 345, mebibyte)
/** The stall timeout is longer than a test may take, so that only a restart can end a slow request. */
const tuning = { stallMs: 300_000, tickMs: 20, slowAfterMs: 300 }

const line = (bytesPerSecond: number) => ({ bytesPerSecond, freeAt: 0 })

/** Total number of bytes requested. Bytes requested twice count twice. */
function askedBytes({ requests }: ScriptedOrigin): number {
  return requests.reduce((sum, { start, end }) => sum + end - start, 0)
}

test.each([
  ['silent', { stallAfter: 300_000 }],
  ['far slower than the others', { bytesPerSecond: 10_000 }],
])(
  'the chunk of a connection that is %s is requested again from where it stopped',
  async (_, wrong) => {
    const scene = await pullScene(file)
    const isFirst = ({ index, start }: BytesRequest) => index === 9 && start === 9 * mebibyte
    scene.origin.script = (request) => (isFirst(request) ? wrong : undefined)
    const pulled = await scene.pull({ tuning })
    expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
    expect(pulled).toMatchObject({ downloadedBytes: file.bytes.length, wastedBytes: 0 })
    const requests = scene.origin.requests.filter(({ index }) => index === 9)
    expect(requests.at(0)?.start).toBe(9 * mebibyte)
    expect(requests.at(-1)?.start).toBeGreaterThan(9 * mebibyte)
  },
)

test('if all connections are slow, none is restarted', async () => {
  const scene = await pullScene(file)
  scene.origin.script = () => ({ bytesPerSecond: mebibyte })
  const pulled = await scene.pull({ tuning: { ...tuning, slowAfterMs: 1000 } })
  expect(pulled.wastedBytes).toBe(0)
  expect(askedBytes(scene.origin)).toBe(file.bytes.length)
})

slowTest('on a busy machine with a slow network, almost nothing is downloaded twice', async () => {
  const busy = Array.from({ length: 6 }, () => spawn('sh', ['-c', 'while :; do :; done']))
  onTestFinished(() => {
    for (const child of busy) child.kill('SIGKILL')
  })
  const small = syntheticFile(3 * mebibyte, mebibyte / 4)
  const scene = await pullScene(small)
  scene.origin.line = line(2 * mebibyte)
  const pulled = await scene.pull({ tuning: { ...tuning, windowBytes: 1 } })
  expect(readFileSync(scene.path).equals(small.bytes)).toBe(true)
  expect(pulled.wastedBytes).toBe(0)
  // The budget for restarts is 3% of the file, but at least one chunk. Here, one chunk is more.
  expect(askedBytes(scene.origin) - small.bytes.length).toBeLessThanOrEqual(mebibyte / 4)
})

test('a damaged chunk counts as wasted', async () => {
  const scene = await pullScene(file)
  scene.origin.script = ({ index, before }) =>
    index === 3 && before === 0 ? { flipByteAt: 5 } : undefined
  expect(await scene.pull()).toMatchObject({
    downloadedBytes: file.bytes.length + mebibyte,
    wastedBytes: mebibyte,
  })
})
