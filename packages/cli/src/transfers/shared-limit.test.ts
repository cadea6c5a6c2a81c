import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeHome } from '../testing/run-shoal.ts'
import { sharedLimit } from './shared-limit.ts'

test('a limit is divided among the processes that use it, and a process that was killed does not count', async () => {
  await using home = await makeHome()
  const folder = join(home.path, 'limits')
  const [one, other] = [sharedLimit(folder, () => 900), sharedLimit(folder, () => 900)]
  expect([one(true), other(true), one(true)]).toEqual([900, 450, 450])
  expect([other(false), one(true)]).toEqual([450, 900]) // the other one is idle
  const [file = ''] = readdirSync(folder)
  const long = new Date(Date.now() - 10_000)
  utimesSync(join(folder, file), long, long)
  expect([other(true), readdirSync(folder).length]).toEqual([900, 1])
})
