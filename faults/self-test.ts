/** Proves that the checks see what they are for: each of these does a harm that they must report. */
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
    'a model that is gone',
    { kind: 'lost', expected: /a model that was made is there/ },
    change("delete from model where name = (select min(name) from model) and name <> ''"),
  ),
  tampering(
    'a session that is gone',
    { kind: 'lost', expected: /a session that was given is good/ },
    change('delete from session where id = (select min(id) from session)'),
  ),
  tampering(
    'an API key that is gone',
    { kind: 'lost', expected: /an API key that was made works/ },
    change('delete from api_key where id = (select min(id) from api_key)'),
  ),
  tampering(
    'a like that is gone',
    { kind: 'lost', expected: /a like is true/ },
    change('delete from model_like'),
  ),
  tampering(
    'a download that is not counted',
    { kind: 'lost', expected: /downloads were acknowledged/ },
    change('update model set downloads = 0'),
  ),
  tampering(
    'a download that is counted twice',
    { kind: 'wrong', expected: /at most .* downloads are counted/ },
    change('update model set downloads = downloads + 1'),
  ),
  tampering(
    'a counter of likes that is wrong',
    { kind: 'wrong', expected: /the likes of a model are as many as its likers/ },
    change('update model set likes = likes + 1'),
  ),
  tampering(
    'a byte that is changed',
    { kind: 'wrong', expected: /a served file has the SHA-256/ },
    (round) => {
      const path = anObject(round)
      const bytes = readFileSync(path)
      bytes[bytes.length - 1] = 1 + (bytes.at(-1) ?? 0)
      writeFileSync(path, bytes)
    },
  ),
  tampering(
    'bytes that are gone',
    { kind: 'wrong', expected: /a listed file has its \d+ bytes|can be downloaded/ },
    (round) => rmSync(anObject(round)),
  ),
  tampering(
    'a ready file that is gone',
    { kind: 'lost', expected: /a file that was ready is/ },
    change("delete from file where status = 'ready'"),
  ),
  tampering(
    'a temporary file',
    { kind: 'wrong', expected: /no temporary file is left/ },
    ({ folder }) => writeFileSync(join(folder, 'tmp', 'left'), ''),
  ),
  tampering(
    'a process that stands still',
    { kind: 'stuck', expected: /is answered in \d+ ms/ },
    async ({ registry, world }) => {
      process.kill(registry.pid(), 'SIGSTOP')
      await world.client.get('/healthz')
      process.kill(registry.pid(), 'SIGCONT')
    },
  ),
  tampering(
    'a process that ends by itself',
    { kind: 'stuck', expected: /the registry goes on running/ },
    async ({ registry }) => {
      process.kill(registry.pid(), 'SIGKILL')
      while (registry.isRunning()) await new Promise((resolve) => setTimeout(resolve, 10))
    },
  ),
]

/** Some stored object's path. */
function anObject({ dataDirectory }: Round): string {
  const objects = join(dataDirectory, 'store', 'objects')
  const [folder = ''] = readdirSync(objects)
  const [name = ''] = readdirSync(join(objects, folder))
  return join(objects, folder, name)
}
