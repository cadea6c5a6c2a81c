/** Tests what the registry does when the program that reads its log stops reading or exits. */
import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, createReadStream, openSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { binPath, makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

/** Enough for the lines of the log to fill its buffer of 1 MiB and that of a pipe or socket. */
const manyRequests = 3_500
/** Makes the log line of a request about half a kilobyte long. */
const longName = 'x'.repeat(250)

async function startRegistry(stdout: 'pipe' | number) {
  const home = await makeHome()
  const stdio: StdioOptions = ['ignore', stdout, 'pipe']
  const child = spawn(
    process.execPath,
    [binPath, 'registry', '--port', '0', '--data', join(home.path, 'registry')],
    { stdio, env: { PATH: process.env.PATH, SHOAL_HOME: home.path, SHOAL_RATE_LIMITS: 'off' } },
  )
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await home[Symbol.asyncDispose]()
  })
  return { child, url: await addressIn(child), data: join(home.path, 'registry') }
}

function addressIn(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stderr?.on('data', (text) => {
      output += text
      const found = /http:\/\/localhost:\d+/.exec(output)
      if (found) resolve(found[0])
    })
    child.on('exit', () => reject(new Error(`the registry did not start: ${output}`)))
  })
}

test('a registry that cannot listen at its address names the option to change', async () => {
  await using home = await makeHome()
  const data = join(home.path, 'registry')
  const words = ['registry', '--host', '192.0.2.1', '--data', data, '--base-url', 'http://a.test']
  const { stderr, exitCode } = await shoalHere(words, { home: home.path })
  expect(stderr).toContain(
    '✗ 192.0.2.1 is not an address of this machine.\n  --host (or SHOAL_HOST)',
  )
  expect(exitCode).toBe(1)
})

async function askOften(url: string, requests = manyRequests) {
  let left = requests
  async function ask() {
    while (left > 0) {
      left -= 1
      const response = await fetch(`${url}/v1/models/${longName}`)
      expect(response.status).toBe(404)
      await response.body?.cancel()
    }
  }
  await Promise.all(Array.from({ length: 20 }, ask))
}

async function droppedLines(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^shoal_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1])
}

async function endsWell(child: ChildProcess) {
  child.kill('SIGTERM')
  const [exitCode] = await once(child, 'exit')
  expect(exitCode).toBe(0)
}

slowTest(
  'a log socket that nobody reads, such as that of systemd, does not block the registry',
  async () => {
    const { child, url } = await startRegistry('pipe')
    await askOften(url)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await droppedLines(url)).toBeGreaterThan(0)
    await endsWell(child)
  },
)

slowTest('when a log pipe is read again, a line reports how many lines were dropped', async () => {
  const home = await makeHome()
  onTestFinished(() => home[Symbol.asyncDispose]())
  const path = join(home.path, 'log')
  execFileSync('mkfifo', [path])
  const both = openSync(path, constants.O_RDWR)
  const { child, url } = await startRegistry(both)
  await askOften(url)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  const dropped = await droppedLines(url)
  expect(dropped).toBeGreaterThan(0)

  const reader = createReadStream(path)
  closeSync(both)
  let lines = 0
  let notice: { dropped: number } | undefined
  for await (const line of createInterface(reader)) {
    const { msg, dropped } = JSON.parse(line)
    if (msg === 'request') lines += 1
    if (dropped === undefined) continue
    notice = { dropped }
    break
  }
  expect(notice?.dropped).toBeGreaterThanOrEqual(dropped)
  expect(lines).toBeLessThan(manyRequests)
  reader.destroy()
  await endsWell(child)
})

slowTest(
  'if the readers of stdout and stderr disappear, the registry continues, and shuts down gracefully',
  async () => {
    const { child, url, data } = await startRegistry('pipe')
    child.stdout?.destroy()
    child.stderr?.destroy()
    await askOften(url, 500)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await endsWell(child)
    expect(await readdir(data)).not.toContain('registry.sqlite-wal') // deleted when SQLite closes the database
  },
)
