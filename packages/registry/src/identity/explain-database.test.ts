import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hasPostgres, postgresUrl } from '../../../../testing/servers.ts'
import { openData } from './open-data.ts'

async function findProblem(databaseUrl: string | undefined, sqliteText?: string) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'shoal-'))
  onTestFinished(() => rm(dataDirectory, { recursive: true }))
  const path = join(dataDirectory, 'registry.sqlite')
  if (sqliteText !== undefined) await writeFile(path, sqliteText)
  const opening = openData({
    dataDirectory,
    databaseUrl,
    s3: undefined,
    store: { baseUrl: () => 'http://localhost', reserveBytes: 0 },
    probesStore: false,
    mayBeNew: true,
    onConnectionLost: () => undefined,
  })
  const error: Error = await opening.then(Promise.reject, (refusal) => refusal)
  return error.message.replace(path, 'PATH')
}

test('if the database cannot be used, the error contains its name, the setting and the reason', async () => {
  expect(await findProblem('postgres://me:secret@127.0.0.1:9/shoal')).toBe(
    'the PostgreSQL database "shoal" on 127.0.0.1:9 (DATABASE_URL) cannot be reached: connect ECONNREFUSED 127.0.0.1:9',
  )
  expect(await findProblem(undefined, 'notes')).toBe(
    'the database PATH cannot be opened: file is not a database',
  )
})

test.skipIf(!hasPostgres)('a missing PostgreSQL database is reported as such', async () => {
  const url = new URL(await postgresUrl())
  url.pathname = '/nothing'
  expect(await findProblem(url.href)).toMatch(
    /^the PostgreSQL database "nothing" on .* \(DATABASE_URL\) has not been created: /,
  )
})
