import { mkdir, open, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import { readRegistryConfig, startRegistry } from '@shoal/registry'
import { expect, test } from 'vitest'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

/** Runs `shoal admin …` on a registry's data folder. */
async function createAdmin(dataDirectory: string) {
  const home = await makeHome()
  return {
    run: (...words: string[]) =>
      shoalHere(['admin', ...words, '--data', dataDirectory], { home: home.path }),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  }
}

test('the bytes of a deleted model stay in the trash until the trash is emptied', async () => {
  await using registry = await realRegistry()
  await using admin = await createAdmin(registry.dataDirectory)
  const { file_size_bytes } = await registry.publish('tide', 5_000_000)
  await registry.deleteModel('tide')

  const listed = await admin.run('trash', 'ls')
  expect(listed.stdout).toMatch(/OBJECT\s+SIZE\s+REASON\s+SINCE\n\S+\s+5\.00 MB\s+deleted\s+20/)
  const restored = await admin.run('trash', 'restore')
  expect(restored.stdout).toBe('0 objects restored, 0 B\n')
  expect(restored.stderr).toContain('that no file refers to')

  const unasked = await admin.run('trash', 'empty')
  expect(unasked.exitCode).toBe(2)
  expect(unasked.stderr).toContain('--yes')
  const emptied = await admin.run('trash', 'empty', '--yes', '--json')
  expect(JSON.parse(emptied.stdout)).toEqual({ objects: 1, bytes: file_size_bytes })
  expect((await admin.run('trash', 'ls')).stderr).toBe('The trash is empty.\n')
})

test('admin status shows the store and the processing queue', async () => {
  await using registry = await realRegistry()
  await using admin = await createAdmin(registry.dataDirectory)
  await registry.publish('tide', 5_000_000)
  const { stdout, stderr } = await admin.run('status')
  expect(stdout.split('\n')).toEqual([
    'database    SQLite',
    'store       folder on this machine',
    'stored      5.00 MB',
    expect.stringMatching(/^free {8}.* kept free and 0 B is reserved for open uploads$/),
    'uploads     0 open',
    'processing  no files',
    'failed      0 files',
    '',
  ])
  expect(stderr).toBe('')
})

test('without --yes, gc does not empty a store whose objects are unknown to the database', async () => {
  await using registry = await realRegistry()
  await using admin = await createAdmin(registry.dataDirectory)
  const folder = join(registry.dataDirectory, 'store', 'objects', '00')
  await mkdir(folder, { recursive: true })
  const unknown = await open(join(folder, 'unknown-00'), 'w')
  await unknown.truncate(2_000_000_000)
  await unknown.close()

  const refused = await admin.run('gc')
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toBe(
    '✗ Not moved to the trash: 1 object (2.00 GB) unknown to this database.\n' +
      '  Unknown objects make up more than a tenth of all stored bytes. If this is the correct database, run: shoal admin gc --yes\n',
  )
  const confirmed = await admin.run('gc', '--yes')
  expect(confirmed.stdout).toBe(
    '1 object moved to the trash, 2.00 GB\n' + '0 unfinished uploads removed\n',
  )
  expect(await readdir(folder)).toEqual(['unknown-00'])
})

test('a restored store must be adopted before the registry or shoal admin accepts it', async () => {
  await using registry = await realRegistry()
  await using admin = await createAdmin(registry.dataDirectory)
  await registry.publish('tide', 1_000_000)
  expect((await admin.run('adopt-store', '--yes')).stderr).toContain('Another registry is running')
  await registry.stop()
  await writeFile(join(registry.dataDirectory, 'store', 'identity'), 'of another registry\n')

  const refused = await admin.run('gc')
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toContain('belong to different registries')
  expect((await admin.run('adopt-store')).exitCode).toBe(2)
  const adopted = await admin.run('adopt-store', '--yes')
  expect(adopted.stdout).toBe('1 stored file checked, all found\n')
  expect((await admin.run('check')).stdout).toContain('0 problems')
  await rm(join(registry.dataDirectory, 'store', 'objects'), { recursive: true })
  expect(await admin.run('check')).toMatchObject({
    stdout: expect.stringMatching(/^1 file, .*, 1 problem\n✗ tide\/tide\S*\.gguf: is missing\n$/),
    exitCode: 7,
  })
  await registry.startAgain()
})

test('admin reports an invalid data folder, and creates nothing in it', async () => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['admin', 'gc', '--data', home.path], {
    home: home.path,
  })
  expect(stderr).toBe(
    `✗ There is no registry in ${home.path}: pass the registry's data folder with --data.\n`,
  )
  expect(exitCode).toBe(1)
  expect(await readdir(home.path)).toEqual([])
})

test('admin reset-password reports ended sessions, and prints only the password on stdout', async () => {
  await using home = await makeHome()
  const data = join(home.path, 'data')
  const config = readRegistryConfig({ SHOAL_PEER_PORT: 'off' }, { port: '0', data })
  const registry = await startRegistry({ ...config, log: 'silent' })
  try {
    const anybody = registryClient({ baseUrl: registry.url })
    const { access_token } = await anybody.register({ username: 'ines', password: 'open sesame' })
    const ines = registryClient({ baseUrl: registry.url, token: access_token })
    const { key } = await ines.createApiKey({ name: 'laptop' })

    const words = ['admin', 'reset-password', 'ines', '--data', data, '--yes']
    const { stdout, stderr, exitCode } = await shoalHere(words, { home: home.path })
    expect(stderr).toBe(
      '1 session ended, 1 API key revoked.\n' +
        "New password for ines (you won't be able to see it again):\n",
    )
    expect(exitCode).toBe(0)
    const withKey = registryClient({ baseUrl: registry.url, token: key })
    await expect(withKey.getMe()).rejects.toMatchObject({ status: 401 })
    const signedIn = await anybody.login({ username: 'ines', password: stdout.trim() })
    expect(signedIn.user.username).toBe('ines')

    const again = await shoalHere(['--json', ...words], { home: home.path })
    expect(JSON.parse(again.stdout)).toEqual({
      username: 'ines',
      password: expect.any(String),
      sessions_ended: 1,
      keys_revoked: 0,
    })
  } finally {
    await registry.close()
  }
})

test('admin adds, limits, disables and removes accounts, and the audit log records it', async () => {
  await using registry = await realRegistry()
  await using admin = await createAdmin(registry.dataDirectory)
  expect((await admin.run('add', 'ana')).stderr).toContain('therefore an administrator')
  const added = await admin.run('add', 'ines', '--email', 'ines@example.org')
  expect(added.stderr).toBe("Password for ines (you won't be able to see it again):\n")
  const anybody = registryClient({ baseUrl: registry.url })
  const { access_token } = await anybody.login({ username: 'ines', password: added.stdout.trim() })
  const ines = registryClient({ baseUrl: registry.url, token: access_token })
  await ines.createModel({ name: 'drift' })
  const { id } = await ines.createApiKey({ name: 'laptop' })

  expect((await admin.run('add', 'ines')).stderr).toContain('The username ines is taken')
  expect((await admin.run('quota', 'ines', 'much')).exitCode).toBe(2)
  expect((await admin.run('quota', 'ines', '5GB')).stderr).toContain('ines may store 5.00 GB.')
  expect((await admin.run('role', 'ines', 'admin')).stderr).toContain('ines is an administrator.')
  expect((await admin.run('users')).stdout).toMatch(
    /ines\s+ines@example\.org\s+admin\s+active\s+1\s+0 B\s+5\.00 GB\s+1/,
  )
  expect((await admin.run('keys', 'ines')).stdout).toMatch(new RegExp(`${id}\\s+laptop`))
  expect((await admin.run('keys', 'ines', '--revoke', id)).stderr).toContain('API key revoked.')
  expect((await admin.run('disable', 'ines')).stderr).toContain('ines is disabled.')
  await expect(ines.getMe()).rejects.toMatchObject({ status: 401 })
  expect((await admin.run('enable', 'ines')).stderr).toContain('ines is enabled.')

  const refused = await admin.run('remove', 'ines', '--yes')
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toContain('--give-to <username>')
  expect((await admin.run('remove', 'ines', '--delete-models')).exitCode).toBe(2) // not confirmed
  const removed = await admin.run('remove', 'ines', '--delete-models', '--yes')
  expect(removed.stderr).toContain('ines was removed.')

  const audit = await admin.run('audit', '--limit', '10')
  expect(audit.stdout.match(/(?<=administrator {2})\S+ \s*\w+ \S+/g)).toEqual([
    'account.quota_changed  user ines',
    'account.role_changed  user ines',
    'key.revoked  user ines',
    'account.disabled  user ines',
    'account.enabled  user ines',
    'account.disabled  user ines',
    'model.deleted  model drift',
    'account.removed  user ines',
  ])
  expect(audit.stdout).toMatch(/ {2}ines {2}key\.created .*\(session \S+, 127\.0\.0\.1\)\n/)
  const json = await admin.run('audit', '--subject', 'drift', '--json')
  expect(JSON.parse(json.stdout)).toMatchObject([{ action: 'model.deleted', actor: null }])
})

test('admin invites someone, and revokes an invitation', async () => {
  await using registry = await realRegistry()
  await using admin = await createAdmin(registry.dataDirectory)
  expect((await admin.run('invitations')).stderr).toContain('No invitations.')
  const invited = await admin.run('invite', '--note', 'Ben from the lab')
  const [link = '', token = ''] = /^http.*#invitation=(shi_\w+)\n$/.exec(invited.stdout) ?? []
  expect(link).toBe(`${registry.url}/register#invitation=${token}\n`)
  const anybody = registryClient({ baseUrl: registry.url })
  await anybody.register({ username: 'ben', password: 'a long password', invitation: token })
  const listed = await admin.run('invitations')
  expect(listed.stdout).toMatch(/Ben from the lab\s+user\s+this host\s+20\S+ \S+\s+ben\n/)
  const other = JSON.parse((await admin.run('invite', '--json')).stdout)
  const revoked = await admin.run('invitations', '--revoke', other.id)
  expect(revoked.stderr).toContain('Invitation revoked.')
})

/** Starts `shoal admin audit --follow`. `stop` returns its outcome. */
function followAudit(home: string, dataDirectory: string, ...flags: string[]) {
  const stopping = new AbortController()
  let shown = ''
  const words = ['admin', 'audit', '--follow', ...flags, '--data', dataDirectory]
  const outcome = shoalHere(words, {
    home,
    stopSignal: stopping.signal,
    onOutput: ({ stdout }) => {
      shown = stdout
    },
  })
  return {
    shown: () => shown,
    stop() {
      stopping.abort()
      return outcome
    },
  }
}

test('admin audit --follow shows new entries until it is stopped', async () => {
  await using registry = await realRegistry()
  await using admin = await createAdmin(registry.dataDirectory)
  await using home = await makeHome()
  await admin.run('add', 'ines')
  const { shown, stop } = followAudit(home.path, registry.dataDirectory)
  await expect.poll(shown).toMatch(/account\.created {2}user ines/)
  await admin.run('add', 'ben')
  await expect.poll(shown).toMatch(/account\.created {2}user ben/)
  expect(await stop()).toMatchObject({ stderr: '', exitCode: 0 })
})

test('admin audit --follow --json prints each entry as one line', async () => {
  await using registry = await realRegistry()
  await using admin = await createAdmin(registry.dataDirectory)
  await using home = await makeHome()
  await admin.run('add', 'ines')
  const { shown, stop } = followAudit(home.path, registry.dataDirectory, '--json')
  await expect.poll(shown).toMatch(/"account\.created".*\n/)
  expect((await stop()).exitCode).toBe(0)
  const entries = shown()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(entries).toContainEqual(
    expect.objectContaining({ action: 'account.created', subject: 'ines' }),
  )
})
