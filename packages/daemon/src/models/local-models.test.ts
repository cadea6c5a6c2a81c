import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

test('an entry that cannot be read is logged once, and does not affect other models', async () => {
  using logs = temporaryFolder()
  const file = join(logs.path, 'daemon.log')
  const { url, folder, close } = await useTestDaemon({ log: { file } }, scriptedRuntime())
  symlinkSync('loop', join(folder, 'loop'))
  mkdirSync(join(folder, 'pipe'))
  execFileSync('mkfifo', [join(folder, 'pipe', 'pipe.gguf')])
  for (let round = 0; round < 2; round += 1) {
    const { models } = (await (await fetch(`${url}/api/tags`)).json()) as { models: object[] }
    expect(models).toHaveLength(3)
  }
  await close() // writes the last lines of the log
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes('models folder'))
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 40, path: join(folder, 'loop'), why: 'it is part of a loop of links' },
    { level: 40, path: join(folder, 'pipe', 'pipe.gguf'), why: 'not a regular file' },
  ])
})
