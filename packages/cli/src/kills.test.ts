/** Kills commands with SIGKILL when they print certain events. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { mebibyte } from '@shoal/core/units'
import { writeGgufFile } from '@shoal/model-file/testing'
import { test as anyTest, expect } from 'vitest'
import { runsSlowTests } from '../../../testing/slow.ts'
import { type RealRegistry, realRegistry } from './testing/real-registry.ts'
import { makeHome, runShoal, type ShoalOptions, startShoal } from './testing/run-shoal.ts'

type Event = { type: string; bytes_done: number; bytes: number }

const test = anyTest.runIf(runsSlowTests)
/** Large enough that its chunks are downloaded by worker threads. */
const sizeBytes = 80 * mebibyte

/**
 * Runs a command, and kills it at the first event for which `isMoment` is true. Returns the events that the command
 * printed, and whether it was killed, because it may end before that event.
 */
async function killAt(
  words: string[],
  options: ShoalOptions,
  isMoment: (event: Event) => boolean,
): Promise<{ events: Event[]; isKilled: boolean }> {
  const { child } = startShoal([...words, '--progress=json'], options)
  const events: Event[] = []
  const reached = Promise.withResolvers<void>()
  const ended = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)))
  createInterface(child.stderr).on('line', (line) => {
    if (!line.startsWith('{')) return
    const event: Event = JSON.parse(line)
    events.push(event)
    if (isMoment(event)) reached.resolve()
  })
  await Promise.race([reached.promise, ended])
  child.kill('SIGKILL')
  return { events, isKilled: (await ended) === 'SIGKILL' }
}

const computeSha256 = (path: string) =>
  createHash('sha256').update(readFileSync(path)).digest('hex')

const optionsFor = (registry: RealRegistry, home: string) => ({
  home,
  env: { SHOAL_REGISTRY: registry.url, SHOAL_TOKEN: registry.token },
})

test('a pull that is killed repeatedly ends with the correct bytes, and counts as one download', async () => {
  await using registry = await realRegistry()
  await using home = await makeHome()
  const file = await registry.publish('often-killed', sizeBytes)
  const options = optionsFor(registry, home.path)
  const words = ['pull', 'often-killed', '--no-peers', '--yes']
  const folder = join(home.models, 'often-killed')
  for (const share of [0, 0.2, 0.4, 0.6, 0.8]) {
    const isMoment = ({ type, bytes_done }: Event) =>
      type === 'progress' && bytes_done > share * sizeBytes
    const slowly = [...words, '--limit-rate', '40MB']
    const { events, isKilled } = await killAt(slowly, options, isMoment)
    expect(isKilled).toBe(true)
    const resumed = events.find(({ type }) => type === 'resumed')?.bytes ?? 0
    expect(resumed).toBeGreaterThanOrEqual(Math.max(0, share - 0.2) * sizeBytes)
    const { mode } = statSync(join(folder, '.shoal', `${file.filename}.download`))
    expect(mode & 0o777).toBe(0o600)
  }
  await killAt(words, options, ({ type }) => type === 'verifying')

  const { exitCode, stderr } = await runShoal(words, options)
  expect(exitCode, stderr).toBe(0)
  expect(computeSha256(join(folder, file.filename))).toBe(file.sha256_hash)
  expect(await registry.countDownloads('often-killed')).toBe(1)
  expect(readdirSync(folder).sort()).toEqual(['.shoal', file.filename])
  const { filename } = file
  expect(readdirSync(join(folder, '.shoal')).sort()).toEqual([
    'model.json',
    `${filename}.json`,
    `${filename}.lock`,
  ])
})

/** The 160 MiB file is sent while it is still being hashed. */
test.each([80, 160])(
  'a push of %i MiB that is killed repeatedly sends only missing chunks',
  async (mebibytes) => {
    await using registry = await realRegistry()
    await using home = await makeHome()
    const path = join(home.path, 'often-killed.Q8_0.gguf')
    await writeGgufFile(path, mebibytes * mebibyte, performance.now())
    const options = optionsFor(registry, home.path)
    const words = ['push', path, '--name', 'often-killed', '--connections', '1']

    await killAt(words, options, ({ type }) => type === 'hashing')
    const slowly = [...words, '--limit-rate', '40MB']
    for (const chunks of [1, 3]) {
      const { events, isKilled } = await killAt(
        slowly,
        options,
        ({ type, bytes_done }) =>
          type === 'uploading' && bytes_done > (chunks + 0.5) * 16 * mebibyte,
      )
      expect(isKilled).toBe(true)
      const first = events.find(({ type }) => type === 'uploading')
      expect(first?.bytes_done).toBeLessThan((chunks + 0.5) * 16 * mebibyte)
    }
    const { events } = await killAt(words, options, ({ type }) => type === 'processing')
    const resumed = events.filter(({ type }) => type === 'resumed')
    expect(resumed.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(3 * 16 * mebibyte)

    const { exitCode, stderr } = await runShoal([...words, '--progress=json'], options)
    expect(exitCode, stderr).toBe(0)
    expect(stderr).not.toContain('"uploading"') // everything was already uploaded
    const [file] = await registry.listFiles('often-killed')
    expect(file).toMatchObject({ status: 'ready', sha256_hash: computeSha256(path) })
  },
)
