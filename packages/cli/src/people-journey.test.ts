import { registryClient } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { nanoPath } from './testing/local-files.ts'
import { realRegistry } from './testing/real-registry.ts'
import { makeHome } from './testing/run-shoal.ts'
import { shoalHere } from './testing/shoal-here.ts'

test('an administrator of a closed registry invites two people, who share a private model until one is disabled', async () => {
  await using registry = await realRegistry({ isRegistrationOpen: false })
  const admin = await person(registry.url)
  const [ana, ben, cleo] = [
    await person(registry.url),
    await person(registry.url),
    await person(registry.url),
  ]
  const onHost = ['--data', registry.dataDirectory]
  await admin.run('admin', 'add', 'root', ...onHost)
  const invite = async () => (await admin.run('admin', 'invite', ...onHost)).stdout.trim()
  const registerAs = (who: typeof ana, username: string, invitation: string[]) =>
    who.typing(
      'a long password',
      ...['register', '--username', username, '--password-stdin', ...invitation],
    )

  expect((await registerAs(ana, 'ana', [])).stderr).toMatch(/Registration on \S+ is closed/)
  const link = await invite()
  expect((await registerAs(ana, 'ana', ['--invitation', link])).exitCode).toBe(0)
  expect((await registerAs(cleo, 'cleo', ['--invitation', link])).stderr).toContain('ask for a new')
  expect((await registerAs(ben, 'ben', ['--invitation', await invite()])).exitCode).toBe(0)

  expect((await ana.run('push', nanoPath, '--name', 'tide', '--private')).exitCode).toBe(0)
  expect((await ben.run('pull', 'tide')).exitCode).toBe(3)
  expect((await ana.run('members', 'ls', 'tide')).stderr).toBe('tide has no members.\n')
  const shared = await ana.run('members', 'set', 'tide', 'ben', 'read')
  expect(shared.stderr).toBe('✓ ben can read tide.\n')
  expect((await ana.run('members', 'ls', 'tide')).stdout).toMatch(/\nben\s+read\s+20\d\d/)
  expect(await ben.run('pull', 'tide')).toMatchObject({ exitCode: 0 })
  expect((await ben.run('push', nanoPath, '--name', 'tide')).exitCode).toBe(5)
  await ana.run('members', 'set', 'tide', 'ben', 'write')
  expect(await ben.run('push', nanoPath, '--name', 'tide')).toMatchObject({ exitCode: 0 })
  expect(await ben.run('edit', 'tide', '--license', 'mit')).toMatchObject({ exitCode: 0 })

  const { stdout: key } = await ana.run('keys', 'new', 'laptop')
  const withKey = registryClient({ baseUrl: registry.url, token: key.trim() })
  expect((await withKey.getMe()).username).toBe('ana')
  await admin.run('admin', 'disable', 'ana', ...onHost)
  await expect(withKey.getMe()).rejects.toMatchObject({ status: 401 })
  expect((await ana.run('whoami')).exitCode).toBe(4)

  const { stdout: audit } = await admin.run('admin', 'audit', ...onHost)
  expect(audit.match(/(?<= )(account|key|invitation|model)\.\w+(?= )/g)).toEqual([
    'account.created',
    'invitation.created',
    'account.created',
    'account.signed_in',
    'invitation.created',
    'account.created',
    'account.signed_in',
    'model.member_set',
    'model.member_set',
    'key.created',
    'account.disabled',
  ])
})

/** A person with a machine and a registry. */
async function person(registry: string) {
  const home = await makeHome()
  const options = { home: home.path, registry }
  return {
    run: (...words: string[]) => shoalHere(words, options),
    typing: (input: string, ...words: string[]) => shoalHere(words, { ...options, input }),
  }
}
