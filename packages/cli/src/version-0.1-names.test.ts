/** Tests that all names that scripts, clients and dashboards written for version 0.1 may use still exist. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exitCodes } from '@shoal/core/errors/table'
import { readDaemonConfig, startDaemon } from '@shoal/daemon'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture } from '../../../testing/version-0.1/fixture.ts'
import {
  commandsIn,
  metricsIn,
  operationsIn,
  propertiesIn,
  readSources,
} from '../../../testing/version-0.1/spoken.ts'
import { realRegistry } from './testing/real-registry.ts'
import { makeHome } from './testing/run-shoal.ts'
import { shoalHere } from './testing/shoal-here.ts'

/** Names that were removed intentionally, with the reasons: `{ 'shoal run --top-k': '…' }`. */
const removed: Record<string, string> = {}

const recorded = JSON.parse(await readFile(fixture.spokenPath, 'utf8'))
const stack = new AsyncDisposableStack()
let registryUrl: string
let daemonUrl: string
let home: Awaited<ReturnType<typeof makeHome>>

beforeAll(async () => {
  registryUrl = stack.use(await realRegistry()).url
  home = stack.use(await makeHome())
  const config = readDaemonConfig({}, { models: home.models, port: '0' })
  const daemon = await startDaemon({ ...config, sharing: undefined, log: 'silent' })
  stack.defer(() => daemon.close())
  daemonUrl = daemon.url
})
afterAll(() => stack.disposeAsync())

function expectAll(names: readonly string[], today: readonly string[]) {
  const there = new Set(today)
  expect(names.length).toBeGreaterThan(0)
  expect(names.filter((name) => !there.has(name) && !(name in removed))).toEqual([])
}

/** Converts `{ Model: ['id'] }` to `['Model', 'Model id']`. */
const flat = (names: Record<string, string[]>) =>
  Object.entries(names).flatMap(([name, parts]) => [
    name,
    ...parts.map((part) => `${name} ${part}`),
  ])

const read = async (url: string) => (await fetch(url)).text()

test('commands and their flags still exist', async () => {
  const help = async (words: readonly string[]) =>
    (await shoalHere(words, { home: home.path })).stdout
  expectAll(flat(recorded.commands), flat(await commandsIn(help)))
})

test('exit codes are unchanged', () => {
  expect(exitCodes).toMatchObject(recorded.exitCodes)
})

test.for(['variables', 'errorCodes'])('%s', async (kind) => {
  const sources = await readSources(join(import.meta.dirname, '../../..'))
  const words = sources.flatMap(({ text }) => text.match(/\b\w+\b/g) ?? [])
  expectAll(recorded[kind], words)
})

test('registry endpoints and the members of their bodies still exist', async () => {
  const document = JSON.parse(await read(`${registryUrl}/openapi.json`))
  expectAll(recorded.registry.operations, operationsIn(document))
  expectAll(flat(recorded.registry.properties), flat(propertiesIn(document)))
})

test('daemon endpoints still exist', async () => {
  const operations: string[] = recorded.daemon.operations
  const found = await Promise.all(
    operations.map(async (operation) => {
      const [method = '', path = ''] = operation.split(' ')
      const response = await fetch(daemonUrl + path.replace('*', 'tide'), { method })
      return (await response.text()).includes('no such endpoint') ? [] : [operation]
    }),
  )
  expectAll(operations, found.flat())
  expect(await read(`${daemonUrl}/v1/tides`)).toContain('no such endpoint') // a missing endpoint is detected
})

test('metrics still exist', async () => {
  expectAll(recorded.registry.metrics, metricsIn(await read(`${registryUrl}/metrics`)))
  expectAll(recorded.daemon.metrics, metricsIn(await read(`${daemonUrl}/metrics`)))
})
