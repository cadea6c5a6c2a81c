/** Tests the commands for changing and deleting published models and files, with a real registry. */
import { execFile } from 'node:child_process'
import { chmod, open, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { registryClient } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { atTerminal } from '../testing/at-terminal.ts'
import { nanoPath } from '../testing/local-files.ts'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

async function publisher() {
  const stack = new AsyncDisposableStack()
  const registry = stack.use(await realRegistry())
  const home = stack.use(await makeHome())
  const env = { SHOAL_TOKEN: registry.token }
  const options = { home: home.path, registry: registry.url, env }
  const shoal = (...words: string[]) => shoalHere(words, options)
  const client = registryClient({ baseUrl: registry.url, token: registry.token })
  expect((await shoal('push', nanoPath, '--name', 'tide')).exitCode).toBe(0)
  return {
    registry,
    home,
    client,
    shoal,
    env: { ...env, SHOAL_REGISTRY: registry.url },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test('edit changes the given details, and an empty text removes a value', async () => {
  await using user = await publisher()
  const { shoal, client, home, registry } = user
  const card = join(home.path, 'card.md')
  await writeFile(card, '# Tide\n\nKnows the tides.')
  const words = ['--description', 'Knows the tides', '--license', 'mit', '--tag', 'a', '--tag', 'b']
  const changed = await shoal('edit', 'tide', ...words, '--card', card, '--private')
  expect(changed).toEqual({
    exitCode: 0,
    stdout: `${registry.url}/m/tide\n`,
    stderr: '✓ Changed tide.\n',
  })
  expect(await client.getModel('tide')).toMatchObject({
    description: 'Knows the tides',
    license: 'mit',
    tags: ['a', 'b'],
    readme: '# Tide\n\nKnows the tides.',
    is_public: false,
  })
  await shoal(
    'edit',
    'tide',
    '--description',
    '',
    '--no-tags',
    '--public',
    '--display-name',
    'Tide',
  )
  expect(await client.getModel('tide')).toMatchObject({
    display_name: 'Tide',
    description: null,
    license: 'mit',
    tags: [],
    is_public: true,
  })
})

test('edit refuses invalid options, and changes nothing', async () => {
  await using user = await publisher()
  const { shoal, client } = user
  const before = await client.getModel('tide')
  const nothing = await shoal('edit', 'tide')
  expect(nothing).toMatchObject({ exitCode: 2 })
  expect(nothing.stderr).toContain('Nothing to change.')
  expect((await shoal('edit', 'tide', '--tag', 'a', '--no-tags')).exitCode).toBe(2)
  expect((await shoal('edit', 'tide', '--public', '--private')).exitCode).toBe(2)
  expect((await shoal('edit', 'tide', '--card', 'missing.md')).stderr).toContain(
    'missing.md does not exist',
  )
  expect((await shoal('edit', 'tidy', '--tag', 'a')).stderr).toContain('Did you mean tide?')
  expect(await client.getModel('tide')).toEqual(before)
})

test('without options, edit opens the card in an editor', async () => {
  await using user = await publisher()
  const { client, home, env } = user
  const editor = join(home.path, 'editor')
  const edit = async (script: string) => {
    await writeFile(editor, `#!/bin/sh\n${script}\n`)
    await chmod(editor, 0o755)
    const terminal = atTerminal(['edit', 'tide'], {
      home: home.path,
      env: { ...env, VISUAL: editor, PATH: process.env.PATH },
    })
    return terminal.outcome
  }
  expect((await edit('true')).stderr).toContain('The card of tide is unchanged.')
  expect((await edit('echo "# Ebb" > "$1"')).stderr).toContain('✓ Changed tide.')
  expect((await client.getModel('tide')).readme).toBe('# Ebb\n')

  const failed = await edit('echo "# Flow" > "$1"; exit 3')
  expect(failed.stderr).toContain('ended with exit code 3')
  expect((await client.getModel('tide')).readme).toBe('# Ebb\n')
  const [, path = ''] = /Your text is in (.*)\.$/m.exec(failed.stderr) ?? []
  expect(await readFile(path, 'utf8')).toBe('# Flow\n')

  const refused = await edit('head -c 600000 /dev/zero | tr "\\0" x > "$1"')
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr).toMatch(/^Your text is in .*tide\.md\.$/m)
})

test('edit does not overwrite a card that someone else has changed in the meantime', async () => {
  await using user = await publisher()
  const { client, home, env } = user
  const editor = join(home.path, 'editor')
  await writeFile(editor, '#!/bin/sh\nread -r _\necho "# Ebb" > "$1"\n')
  const fifo = join(home.path, 'fifo')
  await promisify(execFile)('mkfifo', [fifo])
  await chmod(editor, 0o755)
  const editing = atTerminal(['edit', 'tide'], {
    home: home.path,
    env: { ...env, VISUAL: `<${fifo} ${editor}`, PATH: process.env.PATH },
  })
  const opened = await open(fifo, 'w') // waits for the editor
  await client.updateModel('tide', { readme: '# Flow' })
  await opened.writeFile('go on\n')
  await opened.close()
  const { exitCode, stderr } = await editing.outcome
  expect(exitCode).toBe(1)
  expect(stderr).toContain('The card of tide was changed in the meantime.')
  expect((await client.getModel('tide')).readme).toBe('# Flow')
  const [, path = ''] = /^Your text is in (.*)\.$/m.exec(stderr) ?? []
  expect(await readFile(path, 'utf8')).toBe('# Ebb\n')
  await rm(dirname(path), { recursive: true })
})

test.each([
  ['edit', 'tide:Q8_0', '--license', 'mit'],
  ['rename', 'tide:Q8_0', 'ebb'],
  ['members', 'ls', 'tide:Q8_0'],
  ['members', 'set', 'tide:Q8_0', 'ines', 'read'],
  ['transfer', 'tide:Q8_0', 'ines', '--yes'],
  ['like', 'tide:Q8_0'],
  ['files', 'ls', 'tide:Q8_0'],
])('%s refuses the name of a file', async (...words) => {
  await using home = await makeHome()
  const refused = await shoalHere(words, { home: home.path, registry: 'http://127.0.0.1:9' })
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain('“tide:Q8_0” names a file')
  expect(refused.stderr).toContain('Pass only the name of the model: tide.')
})

test('an unknown account is not mistaken for an unknown model', async () => {
  await using user = await publisher()
  const { stderr, exitCode } = await user.shoal('members', 'set', 'tide', 'nobody', 'read')
  expect({ stderr, exitCode }).toEqual({ stderr: '✗ No user nobody.\n', exitCode: 3 })
  const refused = await user.shoal('edit', 'tide', '--license', 'x'.repeat(101))
  expect(refused.stderr).toBe('✗ License must NOT have more than 100 characters.\n')
})

test('rename gives a model another name, and the old name redirects to it', async () => {
  await using user = await publisher()
  const { shoal, client, registry } = user
  const renamed = await shoal('rename', 'tide', 'ebb')
  expect(renamed.stdout).toBe(`${registry.url}/m/ebb\n`)
  expect(renamed.stderr).toContain('✓ tide is now ebb.')
  expect((await client.getModel('tide')).name).toBe('ebb')
  expect((await shoal('rename', 'ebb', 'Not A Name')).exitCode).toBe(2)
  await client.createModel({ name: 'flow' })
  expect((await shoal('rename', 'ebb', 'flow')).stderr).toContain('taken')
})

test('files are listed and deleted one by one', async () => {
  await using user = await publisher()
  const { shoal, client } = user
  const [file] = await client.listFiles('tide')
  const label = file?.quantization ?? ''
  const listed = await shoal('files', 'ls', 'tide')
  expect(listed.stdout).toContain('NAME')
  expect(listed.stdout).toMatch(new RegExp(`${label} +[\\d.]+ \\w+ +ready +${file?.filename}`))

  expect((await shoal('files', 'rm', 'tide')).stderr).toContain('does not name a file')
  const unknown = await shoal('files', 'rm', 'tide:Q2_K', '--yes')
  expect(unknown.stderr).toContain(`Available: ${label}.`)
  expect((await shoal('files', 'rm', `tide:${label}`)).stderr).toContain('Confirmation is required')
  expect(await client.listFiles('tide')).toHaveLength(1)

  const twice = [`tide:${label}`, `tide:${file?.filename}`]
  const removed = await shoal('files', 'rm', ...twice, '--yes', '--json')
  expect(JSON.parse(removed.stdout)).toEqual({ deleted: [file?.filename] })
  expect(await client.listFiles('tide')).toEqual([])
  expect((await shoal('files', 'ls', 'tide')).stderr).toBe('tide has no files.\n')
})

test('if one of the files cannot be deleted, files rm prints which ones were deleted', async () => {
  await using registry = await realRegistry()
  await using home = await makeHome()
  const admin = registryClient({ baseUrl: registry.url, token: registry.token })
  const register = (username: string) =>
    registryClient({ baseUrl: registry.url }).register({ username, password: 'a long password' })
  await register('ana') // the first account is an administrator
  const ines = await register('ines')
  const as = (token: string, ...words: string[]) =>
    shoalHere(words, { home: home.path, registry: registry.url, env: { SHOAL_TOKEN: token } })
  for (const name of ['ebb', 'flow']) {
    expect((await as(registry.token, 'push', nanoPath, '--name', name)).exitCode).toBe(0)
  }
  expect((await as(ines.access_token, 'push', nanoPath, '--name', 'tide')).exitCode).toBe(0)
  const [{ filename } = { filename: '' }] = await admin.listFiles('tide')
  const names = ['tide', 'ebb', 'flow'].map((name) => `${name}:${filename}`)
  const failed = await as(ines.access_token, 'files', 'rm', ...names, '--yes')
  expect(failed.exitCode).toBe(5)
  expect(failed.stderr).toContain(
    `Deleted: tide:${filename}. Not deleted: ebb:${filename}, flow:${filename}.`,
  )
  expect(await admin.listFiles('tide')).toEqual([])
  expect(await admin.listFiles('ebb')).toHaveLength(1)
})

test('delete removes a model after a confirmation', async () => {
  await using user = await publisher()
  const { shoal, client } = user
  const asked = await shoal('delete', 'tide')
  expect(asked.stderr).toContain('Confirmation is required')
  expect(asked.stderr).toContain('and its 1 file')
  expect((await shoal('delete', 'tide:Q8_0', '--yes')).stderr).toContain('shoal files rm tide:Q8_0')
  expect((await client.getModel('tide')).files_count).toBe(1)
  expect((await shoal('delete', 'tide', '--yes')).exitCode).toBe(0)
  await expect(client.getModel('tide')).rejects.toMatchObject({ status: 404 })
})
