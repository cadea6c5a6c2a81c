import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { readPlaces } from '../settings/places.ts'
import { putModelFile } from '../testing/local-files.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { startOwnDaemon } from './open-daemon.ts'

test("a command's own daemon keeps its model loaded regardless of the keep-alive setting", async () => {
  await using home = await makeHome()
  await putModelFile(join(home.models, 'shoal-nano', 'shoal-nano-Q8_0.gguf'))
  const env = { SHOAL_HOME: home.path, SHOAL_KEEP_ALIVE: '0', SHOAL_THREADS: '1' }
  const environment = {
    env,
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    stopSignal: new AbortController().signal,
    memoryBytes: 16 * 2 ** 30,
  }
  await using daemon = await startOwnDaemon({ environment, places: readPlaces(env) })
  await daemon.client.load('shoal-nano')
  const [{ expires_at } = { expires_at: '' }] = await daemon.client.listLoaded()
  expect(new Date(expires_at).getFullYear()).toBeGreaterThan(2200) // never
})
