/**
 * Creates the fixture again: `node testing/version-0.1/make-fixture.ts <folder>`. The folder is a checkout of commit
 * aed9b29, in which `npm ci` has been run. The script runs that version, kills its processes while they are working,
 * and packs their files.
 */
import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fixture, recorded } from './fixture.ts'
import { pack, putOffExpiry } from './make-archive.ts'
import { browse } from './make-browser.ts'
import { makeModelFiles } from './make-model-files.ts'
import { makeSpoken } from './make-spoken.ts'
import { call, runVersion, untilThere } from './run-version.ts'
import { until } from './until.ts'

const checkout = resolve(process.argv[2] ?? '')
const { root, registryUrl, registryPort, daemonPort, daemonUrl } = recorded
const home = join(root, 'home')
const data = join(root, 'registry')
const files = join(root, 'files')
const shoalDirectory = (model: string) => join(home, 'data/models', model, '.shoal')
const { env, start, kill, shoal, killWhen, help } = runVersion(checkout)

/**
 * Returns one byte for each chunk of the only unfinished upload: 1 if the registry has stored the chunk. Returns an
 * empty buffer if the upload has not started.
 */
async function uploadedChunks(): Promise<Buffer> {
  const uploads = join(data, 'store/uploads')
  const map = (await readdir(uploads)).find((name) => name.endsWith('.chunks'))
  return map === undefined ? Buffer.alloc(0) : readFile(join(uploads, map))
}

/** Returns the number of bytes of each chunk that have been downloaded, according to the pull's journal at `path`. */
async function pulledBytes(path: string): Promise<number[]> {
  const journal = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  })
  const table = journal.subarray(journal.indexOf('\n') + 1)
  return Array.from({ length: table.length / 4 }, (_, index) => table.readInt32LE(index * 4))
}

await rm(root, { recursive: true, force: true })
await mkdir(join(root, 'files'), { recursive: true })
await makeModelFiles(checkout, files)
for (const name of await readdir(files)) await utimes(join(files, name), 1.7e9, 1.7e9)

const registry = start(['registry', '--data', data, '--port', String(registryPort)])
await untilThere(registryUrl)
const { ana, bea } = fixture
await shoal(['register', '--username', ana.username, '--password-stdin'], ana.password)
const token = (await call('POST', '/v1/auth/login', undefined, ana)).access_token
const beaToken = (await call('POST', '/v1/auth/register', undefined, bea)).access_token
const { key } = await call('POST', '/v1/api-keys', token, { name: 'laptop' })
await writeFile(join(root, 'api-key'), key)

const card = join(root, 'card.md')
await writeFile(card, fixture.card)
const details = ['--display-name', 'Tide', '--description', 'Speaks of the sea.']
const labels = ['--license', 'apache-2.0', '--tag', 'chat', '--tag', 'sea', '--card', card]
await shoal(['push', join(files, 'tide-Q8_0.gguf'), '--name', 'tide', ...details, ...labels])
await shoal(['push', join(files, 'surge-Q8_0.gguf'), '--name', 'surge'])
await shoal(['push', join(files, 'reef-Q8_0.gguf'), '--name', 'reef', '--private'])
await call('POST', '/v1/models/tide/like', beaToken)
await shoal(['like', 'surge'])

await shoal(['pull', 'tide'])
const journal = join(shoalDirectory('surge'), 'surge-Q8_0.gguf.journal')
await killWhen(['pull', 'surge', '--connections', '1', '--limit-rate', '12MB'], async () => {
  const [first = 0, second = 0] = await pulledBytes(journal)
  return first === fixture.chunkSize && second > 0
})
const push = ['push', join(files, 'gale-Q8_0.gguf'), '--name', 'gale', '--connections', '2']
await killWhen([...push, '--limit-rate', '8MB'], async () => (await uploadedChunks()).includes(1))

for (const [name, value] of Object.entries(fixture.settings)) {
  if (name !== 'peers') await shoal(['config', 'set', name, value])
}
const nano = 'shoal-nano/shoal-nano-Q8_0.gguf'
const nanoHere = join(home, 'data/models', nano)
await mkdir(dirname(nanoHere), { recursive: true })
await copyFile(join(checkout, 'models', nano), nanoHere)
const daemon = start(['serve', '--port', String(daemonPort)])
await untilThere(daemonUrl)
await until(async () => (await readdir(shoalDirectory('tide'))).some((n) => n.endsWith('.torrent')))
await chatInTerminal()
await writeJson(fixture.browserPath, await browse(join(files, 'storm-Q8_0.gguf')))
await writeJson(fixture.spokenPath, await makeSpoken({ checkout, help, token }))
await shoal(['config', 'set', 'peers', fixture.settings.peers])
await writeJson(fixture.answersPath, await answers())

await kill(daemon)
await putOffExpiry()
await kill(registry)
await pack()

async function writeJson(path: string, content: unknown) {
  await writeFile(path, JSON.stringify(content))
  const biome = join(import.meta.dirname, '../../node_modules/.bin/biome')
  execFileSync(biome, ['format', '--write', path])
}

/** Runs `shoal run` at a terminal, and saves the conversation with `/save`. */
async function chatInTerminal() {
  const module = pathToFileURL(join(checkout, 'packages/cli/src/testing/at-terminal.ts'))
  const { atTerminal, controlD } = await import(module.href)
  const person = atTerminal(['run', 'shoal-nano', '--max-tokens', '8'], { home, env })
  await person.prompted()
  for (const line of ['Hello', '/save sea']) {
    person.type(line)
    await person.prompted()
  }
  person.press(controlD)
  await person.outcome
}

/**
 * Returns the registry's API responses to the owner of the API key. Omits the numbers of seeders, which the registry
 * keeps only in memory.
 */
async function answers(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for (const path of fixture.answered) found[path] = await call('GET', path, key)
  return JSON.parse(JSON.stringify(found), (name, value) =>
    name === 'seeders' ? undefined : value,
  )
}
