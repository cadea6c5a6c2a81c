/** Proves that the checks work: each of these faults does damage that the checks must report. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault, Round } from './fault.ts'
import type { FailureKind } from './harness/failures.ts'
import { sqliteQuery } from './harness/leftovers.ts'

export type Tampering = {
  summary: string
  kind: FailureKind
  /** Matches what the failure says was expected. No other tampering of the same round causes such a failure. */
  expected: RegExp
  strike(round: Round): unknown
}

function tampering(
  summary: string,
  reported: Pick<Tampering, 'kind' | 'expected'>,
  strike: Tampering['strike'],
): Tampering {
  return { summary, ...reported, strike }
}

/** Returns a fault that does all the damage in one round. */
export function toFault(name: string, tamperings: readonly Tampering[]): Fault {
  return {
    name: `self-test-${name}`,
    summary: '',
    needs: [],
    engines: ['sqlite'],
    arrange: () => ({
      answerTimeoutMs: 5_000, // one of the tamperings waits as long
      async strike(round) {
        for (const one of tamperings) await one.strike(round)
      },
    }),
  }
}

const change = (statement: string) => (round: Round) =>
  sqliteQuery(join(round.dataDirectory, 'registry.sqlite'))(statement)

/** The tamperings of each round. Those that would hide each other's damage are in different rounds. */
export const tamperings: Record<string, readonly Tampering[]> = {
  accounts: [
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
      'a temporary file',
      { kind: 'wrong', expected: /no temporary file is left/ },
      ({ folder }) => writeFileSync(join(folder, 'tmp', 'left'), ''),
    ),
    tampering(
      'a process that exits',
      { kind: 'stuck', expected: /the registry keeps running/ },
      async ({ registry }) => {
        process.kill(registry.pid(), 'SIGKILL')
        while (registry.isRunning()) await new Promise((resolve) => setTimeout(resolve, 10))
      },
    ),
  ],
  models: [
    tampering(
      'a missing model',
      { kind: 'lost', expected: /a model that was created exists/ },
      change("delete from model where name = (select min(name) from model) and name <> ''"),
    ),
    tampering(
      'a wrong number of likes',
      { kind: 'wrong', expected: /a model has as many likes as there are accounts that like it/ },
      change('update model set likes = likes + 1'),
    ),
    tampering(
      'a download that is not counted',
      { kind: 'lost', expected: /acknowledged downloads are counted/ },
      change('update model_downloads set downloads = 0'),
    ),
    tampering(
      'a missing ready file',
      { kind: 'lost', expected: /a file that was ready is still ready/ },
      change("delete from file where status = 'ready'"),
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
  ],
  files: [
    tampering(
      'a download that is counted twice',
      { kind: 'wrong', expected: /at most .* downloads are counted/ },
      change('update model_downloads set downloads = downloads + 1'),
    ),
    tampering(
      'a changed byte',
      { kind: 'wrong', expected: /a served file has the SHA-256/ },
      (round) => {
        const [path = ''] = listObjects(round)
        const bytes = readFileSync(path)
        bytes[bytes.length - 1] = 1 + (bytes.at(-1) ?? 0)
        writeFileSync(path, bytes)
      },
    ),
    tampering(
      'missing bytes',
      { kind: 'wrong', expected: /a listed file has \d+ bytes|can be downloaded/ },
      (round) => rmSync(listObjects(round).at(-1) ?? ''),
    ),
  ],
}

/** Returns the paths of all stored objects. */
function listObjects({ dataDirectory }: Round): string[] {
  const objects = join(dataDirectory, 'store', 'objects')
  return readdirSync(objects).flatMap((folder) =>
    readdirSync(join(objects, folder)).map((name) => join(objects, folder, name)),
  )
}
