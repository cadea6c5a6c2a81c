import { copyFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { hashFileInWorker } from '@shoal/model-file'
import { writeGgufFile } from '@shoal/model-file/testing'
import { registryClient } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { nanoPath } from '../testing/local-files.ts'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { sampleFile, sampleModel, sampleUser } from '../testing/samples.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('an invalid GGUF file is detected before any request to the registry', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({})
  const path = join(home.path, 'notes.gguf')
  await writeFile(path, 'not a model')
  const options = { home: home.path, registry: registry.address }
  const bad = await shoalHere(['push', nanoPath, path, '--name', 'nano'], options)
  expect(bad.stderr).toMatch(
    /^✗ notes\.gguf cannot be read as a GGUF file: .*\n {2}Nothing was uploaded\.\n$/,
  )
  expect(bad.exitCode).toBe(1)
  const missing = await shoalHere(['push', join(home.path, 'none.gguf')], options)
  expect(missing.exitCode).toBe(3)
  const folder = await shoalHere(['push', nanoPath, '--card', home.path], options)
  expect(folder.stderr).toContain(`✗ ${home.path} cannot be read: it is a folder.`)
  const twice = await shoalHere(['push', nanoPath, nanoPath], options)
  expect(twice.stderr).toContain('Two of the files have the same name')
  expect(registry.asked).toEqual([])
})

test('without a sign-in, push ends before it reads the whole file', async () => {
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
      `✗ You are not signed in to ${registry.label}.\n  Run shoal login --registry ${registry.label}, or set SHOAL_TOKEN.\n`,
  )
  expect(exitCode).toBe(4)
})

test("push does not change another account's model", async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/auth/me': { body: sampleUser },
    'GET /v1/models/shoal-nano': { body: sampleModel({ name: 'shoal-nano', owner: 'bob' }) },
    'GET /v1/models/hidden': { status: 404, body: { detail: 'no model hidden' } },
    'POST /v1/models': {
      status: 409,
      body: { detail: 'the name hidden is taken', code: 'name_taken' },
    },
  })
  const options = { home: home.path, registry: registry.address }
  for (const words of [
    ['push', nanoPath],
    ['push', nanoPath, '--name', 'hidden'],
  ]) {
    const { stderr, exitCode } = await shoalHere(words, options)
    expect(stderr).toContain('belongs to another account')
    expect(exitCode).toBe(5)
  }
})

test('a model that the same account has just created on another machine is published to', async () => {
  await using home = await makeHome()
  const name = 'shoal-nano'
  const { sha256_hash } = await hashFileInWorker(nanoPath)
  await using registry = await scriptedRegistry({
    'GET /v1/auth/me': { body: sampleUser },
    [`GET /v1/models/${name}`]: [
      { status: 404, body: { detail: `no model ${name}`, code: 'model_unknown' } },
      { body: sampleModel({ name, owner: sampleUser.username }) },
    ],
    'POST /v1/models': {
      status: 409,
      body: { detail: `the name ${name} is taken`, code: 'name_taken' },
    },
    [`GET /v1/models/${name}/files`]: {
      body: [sampleFile({ filename: basename(nanoPath), sha256_hash })],
    },
  })
  const options = { home: home.path, registry: registry.address }
  expect(await shoalHere(['push', nanoPath], options)).toMatchObject({ exitCode: 0 })
})

test('an invalid model name is refused', async () => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['push', nanoPath, '--name', 'My Model'], {
    home: home.path,
  })
  expect(stderr).toContain('“My Model” is not a valid model name.')
  expect(exitCode).toBe(2)
})

test.each([
  ['the quota', { quotaBytes: 1000 }, 'Quota exceeded'],
  ['a full disk', { reserveBytes: 1e15 }, 'Not enough disk space on the registry'],
])('a push refused because of %s leaves no new model behind', async (_, settings, words) => {
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

test('a push stopped before it has sent anything leaves no new model behind', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const { client, token } = await somebody(registry.url)
  const path = join(home.path, 'large.gguf')
  await writeGgufFile(path, 200e6, 1)
  const stop = new AbortController()
  const pushing = shoalHere(['push', path, '--name', 'large', '--limit-rate', '1MB'], {
    home: home.path,
    registry: registry.url,
    env: { SHOAL_TOKEN: token },
    stopSignal: stop.signal,
  })
  await expect.poll(() => client.getModel('large').catch(() => undefined)).toBeDefined()
  stop.abort(new Error('Ctrl-C')) // while the file is being hashed
  expect((await pushing).stderr).toContain('Run the same command again')
  await expect(client.getModel('large')).rejects.toMatchObject({ status: 404 })
})

test('if a push is refused after one file has been published, the model keeps that file', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry({ quotaBytes: 2e6 })
  const { client, token } = await somebody(registry.url)
  const second = join(home.path, 'second.gguf')
  await writeGgufFile(second, 3e6, 1)
  const { stderr } = await shoalHere(['push', nanoPath, second, '--name', 'two'], {
    home: home.path,
    registry: registry.url,
    env: { SHOAL_TOKEN: token },
  })
  expect(stderr).toContain('Quota exceeded')
  expect(await client.getModel('two')).toMatchObject({ files_count: 1 })
})

test('push reports which files were already published', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const { token } = await somebody(registry.url)
  const options = { home: home.path, registry: registry.url, env: { SHOAL_TOKEN: token } }
  const push = (...words: string[]) => shoalHere(['push', ...words, '--name', 'nano'], options)
  expect((await push(nanoPath)).stderr).toContain('✓ Published 1 file of nano.\n')
  const again = await push(nanoPath)
  expect(again.stderr).toContain('✓ All files of nano are already published.\n')
  expect(again.stderr).not.toContain('Published 1')

  const second = join(home.path, 'second.gguf')
  await writeGgufFile(second, 100_000, 1)
  const both = await push(nanoPath, second, '--json')
  expect(both.stderr).toContain(
    '✓ Published 1 file of nano.\n  Already published: shoal-nano-Q8_0.gguf.\n',
  )
  expect(JSON.parse(both.stdout)).toMatchObject({
    already_there: false,
    files: [
      { filename: 'shoal-nano-Q8_0.gguf', already_there: true },
      { filename: 'second.gguf', already_there: false },
    ],
  })
  expect(JSON.parse((await push(second, '--json')).stdout)).toMatchObject({ already_there: true })
})

test('the progress shows the steps: reading, uploading and checking', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const { token } = await somebody(registry.url)
  const options = { home: home.path, registry: registry.url, env: { SHOAL_TOKEN: token } }
  const { stderr } = await shoalHere(['push', nanoPath, '--name', 'nano'], options)
  expect(stderr).toMatch(/nano {2}10% {2}reading \d+ KB of 973 KB\n/)
  expect(stderr).toMatch(/nano {2}\d0% {2}uploading \d+ KB of 973 KB\n/)
  expect(stderr).not.toContain('0 B of')
})

test('an incomplete split file is not published', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const { client, token } = await somebody(registry.url)
  const options = { home: home.path, registry: registry.url, env: { SHOAL_TOKEN: token } }
  const getPartPath = (number: number) => join(home.path, `tide-Q8_0-0000${number}-of-00003.gguf`)
  for (const number of [1, 2, 3]) await copyFile(nanoPath, getPartPath(number))
  const { stderr, exitCode } = await shoalHere(['push', getPartPath(1)], options)
  expect(stderr).toContain(
    '✗ tide-Q8_0-00001-of-00003.gguf is one of 3 parts, and parts 2, 3 would be missing.\n' +
      '  Pass all parts in one command: shoal push tide-Q8_0-*.gguf\n',
  )
  expect(exitCode).toBe(2)
  await expect(client.getModel('tide')).rejects.toMatchObject({ status: 404 })

  const all = await shoalHere(['push', ...[1, 2, 3].map(getPartPath), '--name', 'tide'], options)
  expect(all.exitCode, all.stderr).toBe(0)
  // The other parts are already published.
  const one = await shoalHere(['push', getPartPath(2), '--name', 'tide'], options)
  expect(one.exitCode, one.stderr).toBe(0)
})

test("an administrator must confirm a push to another account's model", async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const { token } = await somebody(registry.url, 'admin') // the first account is an administrator
  const { client } = await somebody(registry.url)
  await client.createModel({ name: 'tide' })
  const options = { home: home.path, registry: registry.url, env: { SHOAL_TOKEN: token } }
  const words = ['push', nanoPath, '--name', 'tide']
  const { stderr, exitCode } = await shoalHere(words, options)
  expect(stderr).toMatch(
    /✗ Confirmation is required, but shoal is not running interactively: tide on \S+ belongs to bea\. Publish to it as an administrator\?\n {2}To answer yes, pass --yes\.\n$/,
  )
  expect(exitCode).toBe(2)
  expect(await client.getModel('tide')).toMatchObject({ files_count: 0 })
  expect((await shoalHere([...words, '--yes'], options)).exitCode).toBe(0)
  expect(await client.getModel('tide')).toMatchObject({ files_count: 1, owner: 'bea' })
})

/** Registers a user, to whom the quota applies. */
async function somebody(baseUrl: string, username = 'bea') {
  const account = { username, password: `password of ${username}` }
  const { access_token: token } = await registryClient({ baseUrl }).register(account)
  return { client: registryClient({ baseUrl, token }), token }
}
