import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { isProcessThere } from '../daemon/state-file.ts'
import { putModelFile } from '../testing/local-files.ts'
import { makeHome, startShoal } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

/** On a busy machine, two threads that must synchronize can be a hundred times slower than one thread. */
const env = { SHOAL_THREADS: '1' }

/** Creates a home with a model. Disposing of the home also stops a daemon that a test has left running. */
async function homeWithNano() {
  const home = await makeHome()
  await putModelFile(join(home.models, 'shoal-nano', 'shoal-nano-Q8_0.gguf'))
  return {
    ...home,
    async [Symbol.asyncDispose]() {
      await shoalHere(['stop', '--now', '--yes'], { home: home.path })
      await home[Symbol.asyncDispose]()
    },
  }
}

const stateFile = (home: string) => join(home, 'state', 'daemon.json')

test('serve loads a local model and answers with it until it is stopped', async () => {
  await using home = await homeWithNano()
  const words = ['serve', '--port', '0', '--model', 'shoal-nano']
  const { child, outcome } = startShoal(words, { home: home.path, env })
  let output = ''
  while (!output.includes('Log ')) output += String((await once(child.stdout, 'data'))[0])
  const [url] = /http:\/\/localhost:\d+\/v1/.exec(output) ?? []
  expect(output).toBe(
    `  Local API   ${url}     no API key required\n` +
      '  Models      shoal-nano:Q8_0\n' +
      '  Loaded      shoal-nano\n' +
      '  Sharing     none found yet; models you pull will be shared (to turn off: --no-share)\n' +
      `  Log         ${join(home.path, 'state', 'daemon.log')}\n`,
  )
  expect(JSON.parse(await readFile(stateFile(home.path), 'utf8'))).toEqual({
    pid: child.pid,
    url: url?.replace('/v1', ''),
    port: Number(new URL(url ?? '').port),
    started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    log_file: join(home.path, 'state', 'daemon.log'),
    command: 'serve',
    shared_directory: home.models,
    token: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect((await stat(stateFile(home.path))).mode & 0o777).toBe(0o600)

  const answer = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer anything' },
    body: JSON.stringify({ model: 'shoal-nano', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  expect(await answer.json()).toMatchObject({ choices: [{ message: { role: 'assistant' } }] })
  child.kill('SIGINT')
  const { stderr, exitCode } = await outcome
  expect(stderr).toContain('Stopping when responses in progress have finished')
  expect(exitCode).toBe(0)
  expect(existsSync(stateFile(home.path))).toBe(false)
})

test('serve finishes a response in progress before it exits', async () => {
  await using home = await homeWithNano()
  const words = ['serve', '--port', '0', '--model', 'shoal-nano', '--json']
  const { child, outcome } = startShoal(words, { home: home.path, env })
  const { url } = JSON.parse(String((await once(child.stdout, 'data'))[0]))
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'shoal-nano',
      messages: [{ role: 'user', content: 'Tell me a long story' }],
      max_tokens: 300,
      temperature: 1.5,
      stream: true,
    }),
  })
  // A second signal soon after the first is ignored, because npm forwards signals that the terminal has already sent.
  child.kill('SIGTERM')
  child.kill('SIGINT')
  expect(await answer.text()).toContain('data: [DONE]')
  expect((await outcome).exitCode).toBe(0)
})

test('stop --now does not wait for requests in progress', async () => {
  await using home = await makeHome()
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const { child, outcome } = startShoal(['serve', '--port', '0', '--json'], {
    home: home.path,
    env: { SHOAL_REGISTRY: `http://127.0.0.1:${port}` },
  })
  const { url } = JSON.parse(String((await once(child.stdout, 'data'))[0]))
  const pull = fetch(`${url}/api/pull`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tide', stream: false }),
  }).catch((error: Error) => error)
  await once(silent, 'request')
  const stopped = await shoalHere(['stop', '--now'], { home: home.path })
  expect(stopped.stderr).toMatch(/^✓ The daemon at http:\/\/localhost:\d+ has stopped\.\n$/)
  expect((await outcome).exitCode).toBe(130)
  expect(await pull).toBeInstanceOf(Error)
  silent.closeAllConnections()
  silent.close()
})

test('serve exits with advice if its model is missing', async () => {
  await using home = await makeHome()
  const words = ['serve', '--port', '0', '--model', 'nobody-7b']
  const { stderr, exitCode } = await shoalHere(words, { home: home.path })
  expect(stderr).toContain('shoal pull nobody-7b')
  expect(exitCode).toBe(3)
})

test('the error mentions Ollama if Ollama uses the port', async () => {
  await using home = await makeHome()
  const ollama = createServer((_, answer) => answer.end('Ollama is running'))
  ollama.listen(0, '127.0.0.1')
  await once(ollama, 'listening')
  const { port } = ollama.address() as AddressInfo
  const { stderr, exitCode } = await shoalHere(['serve', '--port', `${port}`], { home: home.path })
  ollama.close()
  expect(stderr).toContain(`✗ Port ${port} is in use by Ollama.`)
  expect(stderr).toContain(`shoal serve --port ${port + 1}`)
  expect(exitCode).toBe(1)
})

test('an invalid setting is a usage error whose message contains the name of the setting', async () => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['serve', '--slots', 'many'], { home: home.path })
  expect(stderr).toBe(
    '✗ SHOAL_SLOTS (or --slots) must be a whole number from 1 to 256, not "many".\n',
  )
  expect(exitCode).toBe(2)
})

test.each([
  [['--host', 'no.such.host.invalid'], 'The host “no.such.host.invalid” was not found.', 2],
  [['--host', '203.0.113.9'], '203.0.113.9 is not an address of this machine.', 1],
])('a host that is not this machine is refused: %j', async (options, sentence, exitCode) => {
  await using home = await makeHome()
  const words = ['serve', '--port', '0', '--any-key', ...options]
  const outcome = await shoalHere(words, { home: home.path })
  expect(outcome.stderr).toContain(
    `✗ ${sentence}\n  --host (or SHOAL_HOST) must be an address of this`,
  )
  expect(outcome.exitCode).toBe(exitCode)
})

test('a missing key file is a usage error', async () => {
  await using home = await makeHome()
  const words = ['serve', '--port', '0', '--api-key-file', '/nowhere/key']
  const { stderr, exitCode } = await shoalHere(words, { home: home.path })
  expect(stderr).toBe('✗ The key in /nowhere/key cannot be read: no such file or directory.\n')
  expect(exitCode).toBe(2)
})

test('all commands for daemons work with a background daemon', async () => {
  await using home = await homeWithNano()
  const shoal = (words: string[], input?: string) =>
    shoalHere(words, { home: home.path, env, ...(input !== undefined && { input }) })
  const detached = await shoal(['serve', '--detach', '--port', '0', '--slots', '2', '--no-share'])
  expect(detached.stderr).toBe('')
  expect(detached.stdout).toMatch(
    / {2}Local API {3}http:\/\/localhost:\d+\/v1 {5}no API key required\n/,
  )
  expect(detached.stdout).not.toContain('Sharing')
  const [, pid] = / {2}Process {5}(\d+) {5}to stop it: shoal stop\n$/.exec(detached.stdout) ?? []

  expect(await shoal(['ps'])).toMatchObject({
    stdout: '',
    stderr: expect.stringMatching(/^No models are loaded at http:\/\/localhost:\d+\.\n$/),
    exitCode: 0,
  })
  expect((await shoal(['load', 'shoal-nano', '--keep', '1h'])).stderr).toMatch(
    /^✓ shoal-nano:Q8_0 is loaded and uses [\d.]+ MB of memory\.\n$/,
  )
  expect((await shoal(['ps'])).stdout).toMatch(
    /^MODEL +SIZE +MEMORY +CONTEXT +IDLE\nshoal-nano:Q8_0 +973 KB +[\d.]+ MB +512 +\d+ s\n$/,
  )
  const [entry] = JSON.parse((await shoal(['ps', '--json'])).stdout)
  expect(Date.parse(entry.expires_at) - Date.now()).toBeGreaterThan(3_500_000)

  const answered = await shoal(['run', 'shoal-nano', '--temperature', '0'], 'Hello')
  expect(answered).toMatchObject({ stdout: expect.stringMatching(/\w.*\n$/), stderr: '' })
  expect((await shoal(['run', 'shoal-nano', 'Say '.repeat(600)])).stderr).toMatch(/✗ .*context/)

  const again = await shoal(['serve', '--detach', '--port', '0'])
  expect(again.stderr).toContain(`(process ${pid}).\n  To stop it: shoal stop\n`)
  expect(again.exitCode).toBe(1)

  const unloaded = await shoal(['unload', 'shoal-nano', '--json'])
  expect(JSON.parse(unloaded.stdout)).toEqual({ model: 'shoal-nano', unloaded: true })
  expect((await shoal(['unload', 'shoal-nano'])).stderr).toBe('shoal-nano was not loaded.\n')
  expect((await shoal(['load', 'nobody-7b'])).exitCode).toBe(3)

  const { stdout: log } = await shoal(['logs'])
  expect(log).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d .*POST {2}\/v1\/chat\/completions {2}200 /m)
  expect((await shoal(['logs', '-n', '1'])).stdout.trimEnd().split('\n')).toHaveLength(1)
  const follower = startShoal(['logs', '--follow', '-n', '1'], { home: home.path })
  await once(follower.child.stdout, 'data')
  const [[line]] = await Promise.all([once(follower.child.stdout, 'data'), shoal(['ps'])])
  expect(String(line)).toContain('/api/ps')
  follower.child.kill('SIGINT')
  expect((await follower.outcome).exitCode).toBe(0)

  expect(JSON.parse((await shoal(['stop', '--json'])).stdout)).toEqual({
    stopped: true,
    pid: Number(pid),
  })
  expect(await isProcessThere(Number(pid))).toBe(false)
  const stopped = await shoal(['stop'])
  expect(stopped).toMatchObject({ stdout: '', exitCode: 0 })
  expect(stopped.stderr).toMatch(/^Your daemon is not running\.\n/)
  expect((await shoal(['logs', '-n', '1'])).exitCode).toBe(0)
})

test('if a background daemon fails to start, serve prints the reason', async () => {
  await using home = await makeHome()
  const missing = await shoalHere(['serve', '-d', '--port', '0', '--model', 'nobody-7b'], {
    home: home.path,
  })
  expect(missing.stderr).toContain('shoal pull nobody-7b')
  expect(missing.exitCode).toBe(3)
  const open = await shoalHere(['serve', '-d', '--host', '0.0.0.0'], { home: home.path })
  expect(open.stderr).toContain('Other machines can reach this daemon')
  expect(open.exitCode).toBe(2)
})

slowTest('the daemon.json of a killed daemon is ignored', async () => {
  await using home = await homeWithNano()
  const first = startShoal(['serve', '--port', '0', '--json'], { home: home.path, env })
  const { url } = JSON.parse(String((await once(first.child.stdout, 'data'))[0]))
  first.child.kill('SIGKILL')
  await first.outcome
  expect(JSON.parse(await readFile(stateFile(home.path), 'utf8'))).toMatchObject({ url })

  const stopped = await shoalHere(['stop'], { home: home.path })
  expect(stopped.stderr).toMatch(/^Your daemon is not running\.\n/)
  expect(existsSync(stateFile(home.path))).toBe(false)

  // By now, another process may have the daemon's process ID.
  const note = { pid: process.pid, url, port: 1, started_at: '', log_file: null, command: 'serve' }
  await writeFile(stateFile(home.path), JSON.stringify(note))
  expect((await shoalHere(['stop'], { home: home.path })).stderr).toMatch(
    /^Your daemon is not running\.\n/,
  )
  const answered = await shoalHere(['run', 'shoal-nano', 'Hello', '--max-tokens', '4'], {
    home: home.path,
    env,
  })
  expect(answered).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/\w/) })

  await writeFile(stateFile(home.path), '{"pid": 4')
  expect((await shoalHere(['stop'], { home: home.path })).exitCode).toBe(0)
})
