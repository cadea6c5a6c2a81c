import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeHome } from '../testing/run-shoal.ts'
import { scriptedDaemon } from '../testing/scripted-daemon.ts'
import { shoalHere } from '../testing/shoal-here.ts'

/** Writes a `daemon.json` with the given process ID, as an earlier version of shoal would. */
async function leaveNote(home: string, pid: number, url: string) {
  const { port } = new URL(url)
  const note = { pid, url, port: Number(port), started_at: '', log_file: null, command: 'serve' }
  await mkdir(join(home, 'state'), { recursive: true })
  await writeFile(join(home, 'state', 'daemon.json'), JSON.stringify(note))
}

test('a process that reuses the ID of a dead daemon is not stopped, even if another daemon responds', async () => {
  await using home = await makeHome()
  await using other = await scriptedDaemon({
    at: { '/healthz': { body: { status: 'ok', pid: 1 } } },
  })
  const stranger = spawn('sleep', ['60'])
  await once(stranger, 'spawn')
  await leaveNote(home.path, stranger.pid ?? 0, other.url)
  expect(await shoalHere(['stop', '--now'], { home: home.path })).toMatchObject({
    stderr: expect.stringMatching(/^Your daemon is not running\.\n/),
    exitCode: 0,
  })
  expect(stranger.signalCode).toBeNull()
  stranger.kill('SIGKILL')
})

test('a hung daemon is not reported as stopped', async () => {
  await using home = await makeHome()
  // This server accepts connections, but never responds.
  const server = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const hanging = spawn('sleep', ['60'])
  await once(hanging, 'spawn')
  onTestFinished(() => void hanging.kill('SIGKILL'))
  const { port } = server.address() as AddressInfo
  await leaveNote(home.path, hanging.pid ?? 0, `http://127.0.0.1:${port}`)
  const { stderr, exitCode } = await shoalHere(['stop'], { home: home.path })
  expect(stderr).toBe(
    `✗ The daemon (process ${hanging.pid}) does not respond.\n` +
      `  Try again in a moment. If the daemon still does not respond, kill its process: kill -9 ${hanging.pid}\n`,
  )
  expect(exitCode).toBe(1)
  expect(hanging.signalCode).toBeNull()
})

/** A program that responds like a daemon and ignores SIGTERM. */
const stubborn = `
process.on('SIGTERM', () => undefined)
const server = require('node:http').createServer((_, response) => {
  response.end(JSON.stringify({ status: 'ok', pid: process.pid }))
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

test('stop --now kills a daemon that does not exit', async () => {
  await using home = await makeHome()
  const child = spawn(process.execPath, ['-e', stubborn], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
  await leaveNote(home.path, child.pid ?? 0, `http://127.0.0.1:${String(port).trim()}`)
  const ended = once(child, 'exit')
  const { stderr, exitCode } = await shoalHere(['stop', '--now'], { home: home.path })
  expect(stderr).toMatch(/^✓ The daemon at .* has stopped\.\n$/)
  expect(exitCode).toBe(0)
  expect(await ended).toEqual([null, 'SIGKILL'])
})
