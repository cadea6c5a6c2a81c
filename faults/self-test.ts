/** Proves that the checks work: each of these faults does damage that the checks must report. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault, Round } from './fault.ts'
import type { FailureKind } from './harness/failures.ts'
import { sqliteQuery } from './harness/leftovers.ts'

export type Tampering = { fault: Fault; kind: FailureKind; expected: RegExp }

function tampering(
  summary: string,
  reported: { kind: FailureKind; expected: RegExp },
  strike: (round: Round) => unknown,
): Tampering {
  const name = `self-test-${summary.replaceAll(/\W+/g, '-')}`
  const arrange = () => ({
    async strike(round: Round) {
      await strike(round)
    },
  })
  return { ...reported, fault: { name, summary, needs: [], engines: ['sqlite'], arrange } }
}

const change = (statement: string) => (round: Round) =>
  sqliteQuery(join(round.dataDirectory, 'registry.sqlite'))(statement)

export const tamperings: Tampering[] = [
  tampering(
    'a missing model',
    { kind: 'lost', expected: /a model that was created exists/ },
    change("delete from model where name = (select min(name) from model) and name <> ''"),
  ),
  tampering(
    'a missing session',
    { kind: 'lost', expected: /a session that was created is valid/ },
    change('delete from session where id = (select min(id) from session)'),
  ),
  tampering(
    'a missing API key',
    { kind: 'lost', expected: /an API key that was created works/ },
    change('delete from api_key where id = (select min(id) from api_key)'),
  ),
  tampering(
    'a missing like',
    { kind: 'lost', expected: /"liked" is true/ },
    change('delete from model_like'),
  ),
  tampering(
    'a download that is not counted',
    { kind: 'lost', expected: /acknowledged downloads are counted/ },
    change('update model_downloads set downloads = 0'),
  ),
  tampering(
    'a download that is counted twice',
    { kind: 'wrong', expected: /at most .* downloads are counted/ },
    change('update model_downloads set downloads = downloads + 1'),
  ),
  tampering(
    'a wrong number of likes',
    { kind: 'wrong', expected: /a model has as many likes as there are accounts that like it/ },
    change('update model set likes = likes + 1'),
  ),
  tampering(
    'a changed byte',
    { kind: 'wrong', expected: /a served file has the SHA-256/ },
    (round) => {
      const path = anObject(round)
      const bytes = readFileSync(path)
      bytes[bytes.length - 1] = 1 + (bytes.at(-1) ?? 0)
      writeFileSync(path, bytes)
    },
  ),
  tampering(
    'missing bytes',
    { kind: 'wrong', expected: /a listed file has \d+ bytes|can be downloaded/ },
    (round) => rmSync(anObject(round)),
  ),
  tampering(
    'a missing ready file',
    { kind: 'lost', expected: /a file that was ready is still ready/ },
    change("delete from file where status = 'ready'"),
  ),
  tampering(
    'a temporary file',
    { kind: 'wrong', expected: /no temporary file is left/ },
    ({ folder }) => writeFileSync(join(folder, 'tmp', 'left'), ''),
  ),
  tampering(
    'a stopped process',
    { kind: 'stuck', expected: /is answered within \d+ ms/ },
    async ({ registry, world }) => {
      process.kill(registry.pid(), 'SIGSTOP')
      await world.client.get('/healthz')
      process.kill(registry.pid(), 'SIGCONT')
    },
  ),
  tampering(
    'a process that exits',
    { kind: 'stuck', expected: /the registry keeps running/ },
    async ({ registry }) => {
      process.kill(registry.pid(), 'SIGKILL')
      while (registry.isRunning()) await new Promise((resolve) => setTimeout(resolve, 10))
    },
  ),
]

/** Returns the path of any stored object. */
function anObject({ dataDirectory }: Round): string {
  const objects = join(dataDirectory, 'store', 'objects')
  const [folder = ''] = readdirSync(objects)
  const [name = ''] = readdirSync(join(objects, folder))
  return join(objects, folder, name)
}
