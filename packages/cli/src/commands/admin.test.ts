import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

/** `shoal admin …` on the data of a registry. */
async function adminOf(dataDirectory: string) {
  const home = await makeHome()
  return {
    run: (...words: string[]) =>
      shoalHere(['admin', ...words, '--data', dataDirectory], { home: home.path }),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  }
}

test('a restored store has to be adopted before the registry or admin take it', async () => {
  await using registry = await realRegistry()
  await using admin = await adminOf(registry.dataDirectory)
  await registry.publish('tide', 1_000_000)
  expect((await admin.run('adopt-store', '--yes')).stderr).toContain('Another registry is running')
  await registry.stop()
  await writeFile(join(registry.dataDirectory, 'store', 'identity'), 'of another registry\n')

  const refused = await admin.run('gc')
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toContain('belong to different registries')
  expect((await admin.run('adopt-store')).exitCode).toBe(2)
  const adopted = await admin.run('adopt-store', '--yes')
  expect(adopted.stdout).toBe('1 stored file looked for, all found\n')
  expect((await admin.run('check')).stdout).toContain('0 problems')
  await registry.startAgain()
})

test('admin names what is wrong with its folder, and makes nothing there', async () => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['admin', 'gc', '--data', home.path], {
    home: home.path,
  })
  expect(stderr).toBe(`✗ There is no registry in ${home.path}: name its folder with --data.\n`)
  expect(exitCode).toBe(1)
  expect(await readdir(home.path)).toEqual([])
})
