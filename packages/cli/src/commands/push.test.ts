import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nanoPath } from '../testing/local-files.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { sampleModel, sampleUser } from '../testing/samples.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('what is no GGUF file is found before anything is asked of the registry', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({})
  const path = join(home.path, 'notes.gguf')
  await writeFile(path, 'not a model')
  const wishes = { home: home.path, registry: registry.address }
  const bad = await shoalHere(['push', nanoPath, path, '--name', 'nano'], wishes)
  expect(bad.stderr).toMatch(
    /^✗ notes\.gguf is not readable as a GGUF file: .*\n {2}Nothing was sent\.\n$/,
  )
  expect(bad.exitCode).toBe(1)
  const missing = await shoalHere(['push', join(home.path, 'none.gguf')], wishes)
  expect(missing.exitCode).toBe(3)
  const twice = await shoalHere(['push', nanoPath, nanoPath], wishes)
  expect(twice.stderr).toContain('Two of the files have the same name')
  expect(registry.asked).toEqual([])
})

test('signed out, it ends before anything is read in full', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/auth/me': { status: 401, body: { detail: 'not signed in' } },
  })
  const { stderr, exitCode } = await shoalHere(['push', nanoPath], {
    home: home.path,
    registry: registry.address,
  })
  expect(stderr).toBe(
    '  1 file, 973 KB   architecture llama   853.1K   512 context\n' +
      `✗ You are not signed in to ${registry.label}.\n  Run shoal login, or set SHOAL_TOKEN.\n`,
  )
  expect(exitCode).toBe(4)
})

test('the model of somebody else is left alone', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/auth/me': { body: sampleUser },
    'GET /v1/models/shoal-nano': { body: sampleModel({ name: 'shoal-nano', owner: 'bob' }) },
    'GET /v1/models/hidden': { status: 404, body: { detail: 'no model hidden' } },
    'POST /v1/models': { status: 409, body: { detail: 'the name hidden is taken' } },
  })
  const wishes = { home: home.path, registry: registry.address }
  for (const words of [
    ['push', nanoPath],
    ['push', nanoPath, '--name', 'hidden'],
  ]) {
    const { stderr, exitCode } = await shoalHere(words, wishes)
    expect(stderr).toContain('belongs to somebody else')
    expect(exitCode).toBe(5)
  }
})

test('a name that no model can have is refused', async () => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['push', nanoPath, '--name', 'My Model'], {
    home: home.path,
  })
  expect(stderr).toContain('“My Model” cannot be the name of a model.')
  expect(exitCode).toBe(2)
})
