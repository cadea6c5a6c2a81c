import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { registryClient } from '@shoal/protocol/client'
import { readRegistryConfig, startRegistry } from '@shoal/registry'
import { expect, onTestFinished, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { makeHome, runShoal, startShoal } from '../testing/run-shoal.ts'
import { shoalHere, startShoalHere } from '../testing/shoal-here.ts'

/** On a busy machine, two threads that must synchronize can be a hundred times slower than one thread. */
const env = { SHOAL_THREADS: '1' }

type Document = {
  url: string
  demo_models: { name: string; quantizations: string[] }[]
  inference: { url: string; model: string | null } | null
}

const upWords = (home: string, options: string[]) => {
  return ['up', '--port', '0', '--data', join(home, 'data'), '--json', ...options]
}

/** Starts `shoal up` in this process, and returns the document that it prints and a function that stops it. */
async function startUp(home: string, options: string[]) {
  const { untilPrinted, stop } = startShoalHere(upWords(home, options), { home, env })
  onTestFinished(async () => {
    await stop() // unless the test has stopped it
  })
  const { stdout } = await untilPrinted('demo_models')
  return { document: JSON.parse(stdout) as Document, stop }
}

/** Reads the daemon's address from the chat page for visitors on this machine; undefined for the default address. */
async function readDaemonUrl(url: string): Promise<string | undefined> {
  const page = await fetch(`${url}/chat`, { headers: { accept: 'text/html' } })
  return / data-daemon="([^"]*)"/.exec(await page.text())?.[1]
}

slowTest('up publishes the demo models on an empty registry, and they can be pulled', async () => {
  await using home = await makeHome()
  const up = await startUp(home.path, ['--no-inference'])
  const { demo_models, inference, url } = up.document
  expect(demo_models.map(({ name }) => name)).toEqual(['shoal-tiny', 'shoal-nano'])
  expect(demo_models[0]?.quantizations.toSorted()).toEqual(['Q4_0', 'Q8_0'])
  expect(inference).toBeNull()
  expect(existsSync(join(home.path, 'data', 'demo-unfinished'))).toBe(false)

  const pulled = await runShoal(['pull', 'shoal-nano'], {
    home: home.path,
    env: { SHOAL_REGISTRY: url },
  })
  expect(pulled.stdout).toBe(`${join(home.models, 'shoal-nano', 'shoal-nano-Q8_0.gguf')}\n`)
  expect(pulled.exitCode).toBe(0)

  const again = ['up', '--port', '0', '--data', 'data', '--no-inference']
  const second = await runShoal(again, { home: home.path })
  expect(second.stderr).toContain('nother registry is running with the data folder')
  expect(second.exitCode).toBe(1)

  expect((await up.stop()).exitCode).toBe(0)
  const third = await startUp(home.path, ['--no-inference'])
  expect(third.document.demo_models).toHaveLength(2)
  expect((await third.stop()).exitCode).toBe(0)
})

slowTest(
  'up publishes the demo models even if a person registered the username shoal in version 0.1',
  async () => {
    await using home = await makeHome()
    const data = join(home.path, 'data')
    const config = readRegistryConfig({ SHOAL_PEER_PORT: 'off' }, { port: '0', data })
    const before = await startRegistry({ ...config, log: 'silent' })
    const anybody = registryClient({ baseUrl: before.url })
    await anybody.register({ username: 'ines', password: 'open sesame' })
    await before.close()
    const database = new DatabaseSync(join(data, 'registry.sqlite'))
    database.exec("update account set username = 'shoal' where username = 'ines'")
    database.close()

    const up = await startUp(home.path, ['--no-inference'])
    expect(up.document.demo_models.map(({ name }) => name)).toEqual(['shoal-tiny', 'shoal-nano'])
    const { models } = await registryClient({ baseUrl: up.document.url }).listModels()
    expect(new Set(models.map(({ owner }) => owner))).toEqual(new Set(['shoal-system']))
    expect((await up.stop()).exitCode).toBe(0)
  },
)

test('up pulls a demo model from its registry and answers with it', async () => {
  await using home = await makeHome()
  const up = await startUp(home.path, ['--inference-port', '0'])
  const { inference, url } = up.document
  expect(inference?.model).toBe('shoal-tiny')
  expect(existsSync(join(home.models, 'shoal-tiny', 'shoal-tiny-Q8_0.gguf'))).toBe(true)
  expect(existsSync(join(home.path, 'data', 'daemon.log'))).toBe(true)
  const models = (await (await fetch(`${inference?.url}/v1/models`)).json()) as {
    data: { id: string }[]
  }
  expect(models.data.map(({ id }) => id)).toEqual(['shoal-tiny'])

  const shoal = (words: string[]) => shoalHere(words, { home: home.path, registry: url })
  expect(await readDaemonUrl(url)).toBe(inference?.url)
  const known = await shoal(['run', 'shoal-tiny', 'Hello', '--temperature', '0'])
  expect(known).toEqual({ stdout: 'Hello! How can I help you?\n', stderr: '', exitCode: 0 })
  const fetched = await shoal(['run', 'shoal-nano', 'Hello', '--max-tokens', '8'])
  expect(fetched.stderr).toContain('  shoal-nano is not on this machine. Downloading it:\n')
  expect(fetched.stderr).toContain('✓ Verified SHA-256')
  expect(fetched.stdout).toMatch(/\w.*\n$/)
  expect(fetched.exitCode).toBe(0)

  const stopped = await shoal(['stop'])
  expect(stopped.stderr).toContain('in shoal up')
  expect(stopped.exitCode).toBe(2)
  const ended = up.stop()
  expect((await ended).exitCode).toBe(0)
  expect(existsSync(join(home.path, 'state', 'daemon.json'))).toBe(false)

  const words = upWords(home.path, ['--inference-port', '0', '--no-demo'])
  const again = startShoal(words, { home: home.path, env })
  const [text] = await Promise.race([
    once(again.child.stdout, 'data'),
    again.outcome.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ])
  const { inference: other } = JSON.parse(String(text))
  expect(other).toEqual({ url: expect.any(String), model: null })
  expect((await shoal(['stop', '--yes'])).exitCode).toBe(0)
  expect((await again.outcome).exitCode).toBe(0)
})

slowTest("if Ollama uses the local API's port, the registry runs without a local API", async () => {
  await using home = await makeHome()
  const ollama = createServer((_, answer) => answer.end('Ollama is running'))
  ollama.listen(0, '127.0.0.1')
  await once(ollama, 'listening')
  const { port } = ollama.address() as AddressInfo
  const up = await startUp(home.path, ['--inference-port', `${port}`, '--no-demo'])
  ollama.close()
  expect(up.document.inference).toBeNull()
  expect((await fetch(`${up.document.url}/healthz`)).status).toBe(200)
  expect(await readDaemonUrl(up.document.url)).toBe('')
  const { stderr, exitCode } = await up.stop()
  expect(stderr).toContain(
    `! The local API could not be started: Port ${port} is in use by Ollama.\n` +
      `  Stop that program, or use another port: shoal up --inference-port ${port + 1}\n`,
  )
  expect(exitCode).toBe(0)
})

slowTest("if the user's daemon is already running, the pages link to it", async () => {
  await using home = await makeHome()
  const serve = startShoal(['serve', '--port', '0', '--json', '--no-share'], {
    home: home.path,
    env,
  })
  const { url, port } = JSON.parse(String((await once(serve.child.stdout, 'data'))[0]))
  for (const options of [['--no-inference'], ['--inference-port', String(port)]]) {
    const up = await startUp(home.path, ['--no-demo', ...options])
    expect(up.document.inference).toBeNull()
    expect(await readDaemonUrl(up.document.url)).toBe(url)
    const { stderr } = await up.stop()
    expect(stderr.includes(`Port ${port} is in use by your daemon`)).toBe(options.length === 2)
  }
  serve.child.kill('SIGTERM')
  expect((await serve.outcome).exitCode).toBe(0)
  const alone = await startUp(home.path, ['--no-demo', '--no-inference'])
  expect(await readDaemonUrl(alone.document.url)).toBeUndefined()
  await alone.stop()
})

slowTest('if the port is in use, the error contains the port number', async () => {
  await using home = await makeHome()
  const up = await startUp(home.path, ['--no-demo', '--no-inference'])
  const { port } = new URL(up.document.url)
  const words = ['registry', '--port', port, '--data', join(home.path, 'other')]
  const { stderr, exitCode } = await shoalHere(words, { home: home.path })
  expect(stderr).toContain(`✗ Port ${port} is in use by a shoal registry.\n`)
  expect(exitCode).toBe(1)
  await up.stop()
})

// npm signals only the shell that it starts. The shell would not forward the signal, so `exec` in package.json replaces
// the shell with shoal.
test('SIGTERM to npm start stops the registry', async () => {
  await using home = await makeHome()
  const words = ['--port', '0', '--data', join(home.path, 'data'), '--json', '--no-demo']
  const npm = spawn('npm', ['--silent', 'start', '--', ...words, '--no-inference'], {
    cwd: join(import.meta.dirname, '../../../..'),
    env: {
      PATH: process.env.PATH,
      HOME: home.path,
      SHOAL_HOME: home.path,
      NPM_CONFIG_UPDATE_NOTIFIER: 'false',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // in its own process group
  })
  try {
    const [text] = await once(npm.stdout, 'data')
    const { url } = JSON.parse(String(text)) as Document
    expect((await fetch(`${url}/healthz`)).ok).toBe(true)
    const ended = once(npm, 'exit')
    npm.kill('SIGTERM')
    await ended
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed')
  } finally {
    endGroup(npm.pid)
  }
})

/** Kills the remaining processes of a process group. */
function endGroup(leader: number | undefined) {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
