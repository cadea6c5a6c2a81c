/**
 * Tests the examples in the doc comments of public functions. The tests are in this package because only this package
 * may import all others.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readDaemonConfig, startDaemon } from '@shoal/daemon'
import { hashFileInWorker, makeManifest } from '@shoal/model-file'
import { writeGgufFile } from '@shoal/model-file/testing'
import { registryClient, type StartedUpload } from '@shoal/protocol/client'
import { pullFile, pushFile } from '@shoal/transfer'
import { expect, test } from 'vitest'
import { slowTest } from '../../../testing/slow-test.ts'
import { nanoPath } from './testing/local-files.ts'
import { type Example, readExamples } from './testing/read-examples.ts'
import { realRegistry } from './testing/real-registry.ts'
import { type ExampleValues, runExamples } from './testing/run-examples.ts'

const packages = join(import.meta.dirname, '../..')
const read = (path: string) => readExamples(join(packages, path), path)

/** The source files with the methods of the registry client. */
const clientSources = readdirSync(join(packages, 'protocol/src/client'))
  .filter((name) => /-(calls|client)\.ts$/.test(name))
  .map((name) => `protocol/src/client/${name}`)

const sources = [
  ...clientSources,
  'protocol/src/client/transport.ts',
  'protocol/src/inference-client/inference-client.ts',
  'protocol/src/inference-client/transport.ts',
  ...exportedFunctions('transfer/src/index.ts'),
  ...exportedFunctions('transfer/src/push.ts'),
]

/** The source files from which an index file exports functions. */
function exportedFunctions(index: string): string[] {
  const exported = readFileSync(join(packages, index), 'utf8').matchAll(/^export (\{.*)'\.(.*)'/gm)
  return [...exported].flatMap(([, names = '', path]) =>
    /[{,] [a-z]/.test(names.replaceAll(/type \w+/g, '')) ? [join(dirname(index), path ?? '')] : [],
  )
}

slowTest(
  'the examples have the right types and run, and one that does not is reported',
  async () => {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'shoal-examples-'))
    stack.defer(() => rm(folder, { recursive: true }))
    const values = await startPrograms(folder, stack)
    const wrong = (name: string, body: string): Example => ({ name, imports: '', body })
    const examples = [
      ...sources.flatMap(read),
      wrong('wrong type', 'const { depth } = await client.getStats()'),
      wrong('missing model', "await client.getModel('no-such-model')"),
    ]
    const { typeErrors, failures } = await runExamples(examples, { values, folder })
    expect(typeErrors).toMatch(/^wrong type \(6,9\): error TS2339: Property 'depth' does not exist/)
    expect(typeErrors.trim().split('\n')).toHaveLength(1)
    const error = expect.stringContaining('no-such-model')
    expect(failures).toEqual([{ name: 'missing model', error }])
  },
)

test.each(sources)('%s has an example', (path) => {
  expect(read(path).length).toBeGreaterThan(0)
})

test('each method of the registry client has an example', async () => {
  const client = registryClient({ baseUrl: 'http://localhost:8000' })
  const methods = Object.keys(client).filter((name) => name !== 'baseUrl')
  const texts = await Promise.all(
    clientSources.map((path) => readFile(join(packages, path), 'utf8')),
  )
  const source = texts.join('\n')
  const withExample = [...source.matchAll(/@example\n(?:.*\n)*?\s*\*\/\n\s*(?:async )?(\w+)/g)]
  expect(withExample.map(([, name]) => name)).toEqual(expect.arrayContaining(methods))
})

/**
 * A registry with the accounts `ana` and `dana` and the models `tide`, `old-tide` and `empty`, and a daemon that has
 * `tide`.
 */
async function startPrograms(folder: string, stack: AsyncDisposableStack): Promise<ExampleValues> {
  const registry = stack.use(await realRegistry())
  const password = 'a password of ana'
  const visitor = registryClient({ baseUrl: registry.url })
  const { access_token: token } = await visitor.register({ username: 'ana', password })
  const client = visitor.with({ token })
  await visitor.register({ username: 'dana', password: 'a password of dana' })

  const path = join(folder, 'tide.gguf')
  await copyFile(nanoPath, path)
  for (const name of ['tide', 'old-tide', 'empty']) await client.createModel({ name })
  const file = await pushFile({ client, modelName: 'tide', path })
  await pushFile({ client, modelName: 'old-tide', path })
  await writeGgufFile(join(folder, 'tide-q4.gguf'), 100_000, 4)
  await writeGgufFile(join(folder, 'tide-q2.gguf'), 100_000, 2)
  const upload = await sendChunks(join(folder, 'tide-q8.gguf'), (manifest) =>
    client.startUpload('tide', { filename: 'tide-q8.gguf', ...manifest }),
  )

  const models = join(folder, 'models')
  await pullFile({ client, modelName: 'tide', file, path: join(models, 'tide/tide.gguf') })
  const config = readDaemonConfig({}, { models, port: '0' })
  const daemon = await startDaemon({ ...config, threads: 1, log: 'silent' })
  stack.defer(() => daemon.close())
  return { registryUrl: registry.url, daemonUrl: daemon.url, token, password, file, upload }
}

async function sendChunks(
  path: string,
  start: (manifest: ReturnType<typeof makeManifest>) => Promise<StartedUpload>,
): Promise<StartedUpload> {
  await writeGgufFile(path, 100_000, 8)
  const upload = await start(makeManifest(await hashFileInWorker(path)))
  for (const { url } of upload.upload.missing_chunks) {
    const { status } = await fetch(url, { method: 'PUT', body: await readFile(path) })
    expect(status).toBe(200)
  }
  return upload
}
