import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeGgufFile } from '@shoal/model-file/testing'
import { registryClient } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { nanoPath } from '../testing/local-files.ts'
import { realRegistry } from '../testing/real-registry.ts'
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

test.each([
  ['the quota', { quotaBytes: 1000 }, 'Quota exceeded'],
  ['a full disk', { reserveBytes: 1e15 }, 'no room for this file'],
])('what %s refuses leaves no model behind that the push has made', async (_, settings, words) => {
  await using home = await makeHome()
  await using registry = await realRegistry(settings)
  const { client, token } = await somebody(registry.url)
  const push = (name: string) =>
    shoalHere(['push', nanoPath, '--name', name], {
      home: home.path,
      registry: registry.url,
      env: { SHOAL_TOKEN: token },
    })
  const { stderr, exitCode } = await push('made-now')
  expect(stderr).toContain(words)
  expect(exitCode).not.toBe(0)
  await expect(client.getModel('made-now')).rejects.toMatchObject({ status: 404 })

  await client.createModel({ name: 'made-before' })
  expect((await push('made-before')).stderr).toContain(words)
  expect(await client.getModel('made-before')).toMatchObject({ files_count: 0 })
})

test('a push that is stopped before it has sent anything leaves no model behind', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const { client, token } = await somebody(registry.url)
  const path = join(home.path, 'large.gguf')
  await writeGgufFile(path, 200e6, 1)
  const stop = new AbortController()
  const pushing = shoalHere(['push', path, '--name', 'large'], {
    home: home.path,
    registry: registry.url,
    env: { SHOAL_TOKEN: token },
    stopSignal: stop.signal,
  })
  await expect.poll(() => client.getModel('large').catch(() => undefined)).toBeDefined()
  stop.abort(new Error('Ctrl-C')) // while the file is hashed
  expect((await pushing).stderr).toContain('Run the same command again')
  await expect(client.getModel('large')).rejects.toMatchObject({ status: 404 })
})

test('what is refused after a file was published leaves the model with that file', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry({ quotaBytes: 2e6 })
  const { client, token } = await somebody(registry.url)
  const second = join(home.path, 'second.gguf')
  await writeGgufFile(second, 2e6, 1)
  const { stderr } = await shoalHere(['push', nanoPath, second, '--name', 'two'], {
    home: home.path,
    registry: registry.url,
    env: { SHOAL_TOKEN: token },
  })
  expect(stderr).toContain('Quota exceeded')
  expect(await client.getModel('two')).toMatchObject({ files_count: 1 })
})

/** Who has an account at a registry, with a quota. */
async function somebody(baseUrl: string) {
  const account = { username: 'bea', password: 'password of bea' }
  const { access_token: token } = await registryClient({ baseUrl }).register(account)
  return { client: registryClient({ baseUrl, token }), token }
}
