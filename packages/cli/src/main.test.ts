import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { systemPath } from '../../../testing/programs.ts'
import { putModelFile } from './testing/local-files.ts'
import { binPath, makeHome, runShoal, startShoal } from './testing/run-shoal.ts'
import { sampleModel } from './testing/samples.ts'
import { scriptedDaemon } from './testing/scripted-daemon.ts'
import { scriptedRegistry } from './testing/scripted-registry.ts'

/** The first Node on the `PATH` that is too old to run shoal from a clone. */
const oldNode = systemPath()
  .split(delimiter)
  .map((directory) => join(directory, 'node'))
  .filter((path) => existsSync(path))
  .find((path) => readMajorVersion(path) < 24)

function readMajorVersion(path: string): number {
  const version = execFileSync(path, ['--version'], { encoding: 'utf8' })
  return Number(/^v(\d+)/.exec(version)?.[1])
}

test('the program starts, prints its version and exits', async () => {
  await using home = await makeHome()
  const { stdout, stderr, exitCode } = await runShoal(['--version'], { home: home.path })
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    stderr: '',
    exitCode: 0,
  })
})

test('a failure sets the exit code', async () => {
  await using home = await makeHome()
  const { stderr, exitCode } = await runShoal(['path', 'tide'], { home: home.path })
  expect(stderr).toBe('✗ tide is not on this machine.\n  To download it: shoal pull tide\n')
  expect(exitCode).toBe(3)
})

test('the program exits without an error if its reader stops reading', async () => {
  await using home = await makeHome()
  const models = Array.from({ length: 200 }, (_, index) =>
    sampleModel({ name: `tide-${index}`, readme: 'x'.repeat(10_000) }),
  )
  await using registry = await scriptedRegistry({ 'GET /v1/models': { body: models } })
  const pipeline = '"$0" "$1" search --json | head -c 1; echo " $PIPESTATUS"'
  const { stdout, stderr } = await promisify(execFile)(
    'bash',
    ['--norc', '-c', pipeline, process.execPath, binPath],
    { env: { PATH: process.env.PATH, SHOAL_HOME: home.path, SHOAL_REGISTRY: registry.address } },
  )
  expect({ stdout, stderr }).toEqual({ stdout: '[ 0\n', stderr: '' })
})

test.skipIf(!existsSync('/dev/full'))(
  'output to a full disk ends with one error line and exit code 8',
  async () => {
    await using home = await makeHome()
    await using daemon = await scriptedDaemon()
    for (const words of [['ps', '--json'], ['run', 'shoal-nano', 'Hi'], ['--help']]) {
      const full = openSync('/dev/full', 'w')
      const child = spawn(process.execPath, [binPath, ...words], {
        env: { PATH: process.env.PATH, SHOAL_HOME: home.path, SHOAL_INFERENCE: daemon.url },
        stdio: ['ignore', full, 'pipe'],
      })
      closeSync(full)
      const output = text(child.stderr as Readable)
      const [exitCode] = await once(child, 'close')
      expect(await output).toBe('✗ The output could not be written: the disk is full.\n')
      expect(exitCode).toBe(8)
    }
  },
)

test('a signal from another program ends the command with exit code 130', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/models': { status: 503, headers: { 'retry-after': '60' } },
  })
  const { child, outcome } = startShoal(['search'], {
    home: home.path,
    env: { SHOAL_REGISTRY: registry.address },
  })
  await once(child.stderr, 'data')
  child.kill('SIGTERM')
  expect((await outcome).exitCode).toBe(130)
})

test('a signal ends a command that waits for a pipe', async () => {
  await using home = await makeHome()
  await putModelFile(join(home.models, 'tide', 'tide-Q8_0.gguf'))
  const pipe = join(home.path, 'pipe')
  execFileSync('mkfifo', [pipe])
  const { child, outcome } = startShoal(['preset', 'tide', '--template', pipe], { home: home.path })
  // Opens the pipe as soon as the command reads from it, and writes nothing.
  const openPipe = () => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  const writer = await vi.waitUntil(() => tryTo(openPipe), { timeout: 60_000, interval: 20 })
  child.kill('SIGTERM')
  expect(await outcome).toMatchObject({ stderr: '■ Stopped.\n' })
  expect(child.signalCode).toBe('SIGINT')
  closeSync(writer)
})

function tryTo<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch {
    return undefined // not yet
  }
}

test.skipIf(oldNode === undefined)("an old Node starts the project's own Node", async () => {
  await using home = await makeHome()
  const old = await runShoal(['path', 'tide', '--json'], { home: home.path, node: oldNode ?? '' })
  expect(JSON.parse(old.stdout).error.code).toBe('not_found')
  expect(old.exitCode).toBe(3)
})

test.skipIf(oldNode === undefined)('an old Node forwards signals', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/models': { status: 503, headers: { 'retry-after': '60' } },
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { child, outcome } = startShoal(['search'], {
      home: home.path,
      env: { SHOAL_REGISTRY: registry.address },
      node: oldNode ?? '',
    })
    await once(child.stderr, 'data')
    child.kill(signal)
    expect((await outcome).exitCode).toBe(130)
  }
})

test.skipIf(oldNode === undefined)(
  'an old Node prints the required version if there is no other Node',
  async () => {
    await using home = await makeHome()
    const bin = join(home.path, 'bin', 'shoal.js')
    await mkdir(join(home.path, 'bin'))
    await copyFile(binPath, bin)
    await chmod(bin, 0o755)
    const child = spawn(oldNode ?? '', [bin, '--version'], { stdio: ['ignore', 'ignore', 'pipe'] })
    const [chunk] = await once(child.stderr, 'data')
    const [exitCode] = await once(child, 'close')
    expect(String(chunk)).toMatch(/^shoal needs Node 24 or newer; this is Node \d+\.\d+\.\d+\.\n$/)
    expect(exitCode).toBe(1)
  },
)
