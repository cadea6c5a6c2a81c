import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { readDaemonConfig, startDaemon } from '@shoal/daemon'
import { expect, onTestFinished, test } from 'vitest'
import { readPlaces } from '../settings/places.ts'
import { putModelFile } from '../testing/local-files.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { scriptedDaemon } from '../testing/scripted-daemon.ts'
import { shoalHere } from '../testing/shoal-here.ts'
import { writeDaemonState } from './state-file.ts'

/** A key that only the user's own daemon may receive. */
const env = { SHOAL_API_KEY: 'secret', SHOAL_THREADS: '1' }
const token = 'token-of-the-note'

/** Starts a program that listens on a port, and returns the port. */
async function listening(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const ollama = () => listening((_, answer) => answer.end('Ollama is running'))

/** Writes a `daemon.json` with this process as the daemon. */
function leaveNote(home: string, url: string, withToken?: string) {
  return writeDaemonState(readPlaces({ SHOAL_HOME: home }), {
    pid: process.pid,
    url,
    port: Number(new URL(url).port),
    started_at: '2026-01-31T12:00:00.000Z',
    log_file: null,
    command: 'serve',
    ...(withToken !== undefined && { token: withToken }),
  })
}

test.each([
  [['ps']],
  [['load', 'shoal-nano']],
  [['unload', 'shoal-nano']],
  [['seed', 'status']],
  [['seed', 'pause']],
])('%j reports the program on the default port, and does not send it the key', async (words) => {
  await using home = await makeHome()
  await using daemon = await scriptedDaemon()
  const options = { home: home.path, env }
  const foreign = await shoalHere(words, { ...options, daemonPort: daemon.port })
  expect(foreign).toEqual({
    stdout: '',
    stderr:
      `✗ Your daemon is not running. A shoal daemon that belongs to another user or another SHOAL_HOME responds at localhost:${daemon.port}.\n` +
      `  To use that daemon, pass --inference localhost:${daemon.port}. To start your own daemon: shoal serve --port <number>\n`,
    exitCode: 6,
  })
  expect(daemon.asked).toEqual([{ path: '/healthz', authorization: undefined, body: {} }])

  const daemonPort = await ollama()
  const other = await shoalHere(words, { ...options, daemonPort })
  expect(other.stderr).toContain(`Ollama responds at localhost:${daemonPort}.\n`)
  expect(other.stderr).not.toContain('--inference')
  expect(other.exitCode).toBe(6)
})

test('run starts its own daemon if another user has the default port, and sends neither prompt nor key to that user', async () => {
  await using home = await makeHome()
  await putModelFile(join(home.models, 'shoal-nano', 'shoal-nano-Q8_0.gguf'))
  await using daemon = await scriptedDaemon()
  const words = ['run', 'shoal-nano', 'A private question', '--max-tokens', '2']
  const { stderr, exitCode } = await shoalHere(words, {
    home: home.path,
    env,
    daemonPort: daemon.port,
  })
  expect(stderr).toMatch(
    /^ {2}A shoal daemon that belongs to another user .* responds at localhost:\d+\. The model runs/,
  )
  expect(exitCode).toBe(0)
  expect(daemon.asked).toEqual([{ path: '/healthz', authorization: undefined, body: {} }])
})

test('a daemon specified by the user is always called', async () => {
  await using home = await makeHome()
  await using daemon = await scriptedDaemon()
  const named = { home: home.path, env: { ...env, SHOAL_INFERENCE: daemon.url } }
  expect((await shoalHere(['ps'], named)).exitCode).toBe(0)
  expect(daemon.asked.at(-1)).toMatchObject({ path: '/api/ps', authorization: 'Bearer secret' })
})

test('stop reports another program on the default port, and does not stop it', async () => {
  await using home = await makeHome()
  const daemonPort = await ollama()
  expect(await shoalHere(['stop'], { home: home.path, daemonPort })).toEqual({
    stdout: '',
    stderr: `Your daemon is not running.\n  Ollama responds at localhost:${daemonPort}. It was not stopped.\n`,
    exitCode: 0,
  })
})

test('a program that has taken over the port in daemon.json receives neither key nor token', async () => {
  await using home = await makeHome()
  await using impostor = await scriptedDaemon()
  await leaveNote(home.path, impostor.url, token)
  const { exitCode } = await shoalHere(['ps'], { home: home.path, env })
  expect(exitCode).toBe(6)
  expect(impostor.asked).toHaveLength(1)
  expect(JSON.stringify(impostor.asked)).toMatch(/healthz\?nonce=[\w-]{43}"/)
  expect(JSON.stringify(impostor.asked)).not.toMatch(/secret|token-of/)
})

/** Starts a real daemon in this process. */
async function realDaemon(folder: string) {
  const config = readDaemonConfig({}, { models: folder, port: '0' })
  const daemon = await startDaemon({ ...config, proofToken: token, log: 'silent' })
  onTestFinished(() => daemon.close())
  return daemon
}

test('the daemon in daemon.json proves its identity and receives the key', async () => {
  await using home = await makeHome()
  const { url } = await realDaemon(home.models)
  await leaveNote(home.path, url, token)
  expect(await shoalHere(['ps'], { home: home.path, env })).toMatchObject({
    stderr: `No models are loaded at ${url}.\n`,
    exitCode: 0,
  })
  await leaveNote(home.path, url, 'token of another daemon')
  expect((await shoalHere(['ps'], { home: home.path, env })).exitCode).toBe(6)
})

test('a proof relayed from the real daemon is rejected', async () => {
  await using home = await makeHome()
  const { port } = await realDaemon(home.models)
  const relayed: string[] = []
  const relay = await listening(async ({ url = '' }, answer) => {
    relayed.push(url)
    const real = await fetch(`http://127.0.0.1:${port}${url}`)
    answer.setHeader('content-type', 'application/json').end(await real.text())
  })
  await leaveNote(home.path, `http://localhost:${relay}`, token)
  expect((await shoalHere(['ps'], { home: home.path, env })).exitCode).toBe(6)
  expect(relayed).toEqual([expect.stringContaining('/healthz?nonce=')])
})

test('a daemon of an earlier version is not called and must be restarted', async () => {
  await using home = await makeHome()
  await using daemon = await scriptedDaemon()
  await leaveNote(home.path, daemon.url)
  const label = `127.0.0.1:${daemon.port}`
  const sentence = `The daemon at ${label} is from an earlier version and cannot prove that it is yours`
  expect(await shoalHere(['ps'], { home: home.path, env })).toMatchObject({
    stderr: `✗ ${sentence}.\n  To restart that daemon: shoal stop, then shoal serve.\n`,
    exitCode: 6,
  })
  const doctor = await shoalHere(['doctor'], { home: home.path, env, registry: daemon.url })
  expect(doctor.stdout).toContain(
    `! ${sentence}\n  To restart that daemon: shoal stop, then shoal serve.\n`,
  )
  expect(new Set(daemon.asked.map(({ authorization }) => authorization))).toEqual(
    new Set([undefined]),
  )
})

test('doctor reports the program on the default port', async () => {
  await using home = await makeHome()
  await using daemon = await scriptedDaemon()
  const options = { home: home.path, env, registry: 'http://127.0.0.1:9' }
  const foreign = await shoalHere(['doctor'], { ...options, daemonPort: daemon.port })
  expect(foreign.stdout).toContain(
    `! Port ${daemon.port} is in use by a shoal daemon that belongs to another user or another SHOAL_HOME\n`,
  )
  expect(foreign.stdout).toContain(
    `To use that daemon, pass --inference localhost:${daemon.port}.\n`,
  )
  expect(daemon.asked.every(({ authorization }) => authorization === undefined)).toBe(true)
  const daemonPort = await ollama()
  const other = await shoalHere(['doctor'], { ...options, daemonPort })
  expect(other.stdout).toContain(`! Port ${daemonPort} is in use by Ollama\n`)
})

/** Starts a server that acts like a daemon that hangs: it accepts requests, but never responds. */
async function hungDaemon() {
  const asked: string[] = []
  const port = await listening(({ url = '' }) => asked.push(url))
  return { asked, url: `http://127.0.0.1:${port}` }
}

test('stop sends only one request to a daemon that does not respond', async () => {
  await using home = await makeHome()
  const hung = await hungDaemon()
  await leaveNote(home.path, hung.url, token)
  const { stderr } = await shoalHere(['stop'], { home: home.path })
  expect(stderr).toContain('does not respond.\n')
  expect(hung.asked).toHaveLength(1)
})

test.each(['named', 'noted', 'of an earlier version'])(
  'completion waits for a hung daemon (%s) for a shorter time than other commands do',
  async (kind) => {
    await using home = await makeHome()
    const hung = await hungDaemon()
    if (kind === 'noted') await leaveNote(home.path, hung.url, token)
    if (kind === 'of an earlier version') await leaveNote(home.path, hung.url)
    const options = {
      home: home.path,
      env: kind === 'named' ? { SHOAL_INFERENCE: hung.url } : {},
    }
    const ended: string[] = []
    await Promise.all([
      shoalHere(['ps'], options).then(() => ended.push('ps')),
      shoalHere(['__complete', 'shoal unload '], options).then((outcome) => {
        expect(outcome).toEqual({ stdout: '', stderr: '', exitCode: 0 })
        ended.push('completion')
      }),
    ])
    expect(ended).toEqual(['completion', 'ps'])
  },
)
