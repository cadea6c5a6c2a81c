import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('if a file is damaged, pull prints the command that repairs it, and that command works', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  await registry.publish('tide', 300_000)
  const shoal = (...words: string[]) =>
    shoalHere(words, { home: home.path, registry: registry.url })
  await shoal('pull', 'tide', '--no-peers')
  const path = join(home.models, 'tide', 'tide.gguf')
  const bytes = await readFile(path)
  const damages = [
    () => writeFile(path, Buffer.from(bytes).fill(0, 200_000, 200_010)),
    () => truncate(path, 200_000),
  ]
  for (const damage of damages) {
    await damage()
    const { stderr, exitCode } = await shoal('pull', 'tide', '--no-peers')
    expect(stderr).toContain(
      `✗ ${path} is damaged.\n` +
        '  It has changed since it was downloaded. To repair it: shoal verify --repair tide\n',
    )
    expect(exitCode).toBe(7)
    expect((await shoal('verify', '--repair', 'tide')).stdout).toContain('repaired')
    expect(await readFile(path)).toEqual(bytes)
  }
  expect((await shoal('pull', 'tide', '--no-peers')).stderr).toContain('Already downloaded.')
})

test('outside the models folder, which verify does not check, pull advises deleting a damaged file', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  await registry.publish('tide', 300_000)
  const path = join(home.path, 'tide.gguf')
  const pull = () =>
    shoalHere(['pull', 'tide', '--no-peers', '-o', path], {
      home: home.path,
      registry: registry.url,
    })
  await pull()
  await truncate(path, 1)
  expect((await pull()).stderr).toContain('Delete it, then run the same command again.')
})
