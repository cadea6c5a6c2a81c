/** Tests the accounts and private models of a closed registry, with real browsers and the CLI. */
import { readFile } from 'node:fs/promises'
import { registryClient } from '@shoal/protocol/client'
import { expect, inject, test } from 'vitest'
import {
  accessibilityProblems,
  openPage,
  type Page,
  startBrowser,
} from '../../../testing/browser.ts'
import { nanoPath } from './testing/local-files.ts'
import { realRegistry } from './testing/real-registry.ts'
import { makeHome } from './testing/run-shoal.ts'
import { shoalHere } from './testing/shoal-here.ts'

const chromium = inject('chromium')
const password = 'a long password'

test.skipIf(!chromium)(
  'an administrator of a closed registry invites two people in a browser, who share a private model until one is disabled',
  async () => {
    await using registry = await realRegistry({ isRegistrationOpen: false })
    await using browser = await startBrowser(chromium ?? '', [registry.url])
    await using home = await makeHome()
    const run = (...words: string[]) =>
      shoalHere(words, { home: home.path, registry: registry.url, input: password })
    const onHost = ['--data', registry.dataDirectory]
    const { stdout: rootPassword } = await run('admin', 'add', 'root', ...onHost)

    await using root = await browser.newVisitor({ reducedMotion: 'reduce' })
    await openPage(root.page, `${registry.url}/login`)
    await signIn(root.page, 'root', rootPassword.trim())
    await root.page.getByRole('button', { name: 'Signed in as root' }).click()
    await root.page.getByRole('link', { name: 'Administration' }).click()
    await root.page.getByRole('link', { name: 'Invitations' }).click()
    await root.page.getByText('No invitations yet.').waitFor()
    const links = [await invite(root.page, 'Ana'), await invite(root.page, 'Ben')]
    expect(await accessibilityProblems(root.page)).toEqual([])

    await using anas = await browser.newVisitor({ reducedMotion: 'reduce' })
    await using bens = await browser.newVisitor({ reducedMotion: 'reduce' })
    const [ana, ben] = [anas.page, bens.page]
    for (const [page, username, link = ''] of [
      [ana, 'ana', links[0]],
      [ben, 'ben', links[1]],
    ] as const) {
      await page.goto(link)
      await page.getByText('You have been invited to this registry.').waitFor()
      await page.waitForURL(`${registry.url}/register`)
      expect(await page.evaluate('location.hash')).toBe('')
      await page.reload()
      await page.getByText('You have been invited to this registry.').waitFor()
      await page.getByLabel('Username').fill(username)
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.getByRole('button', { name: `Signed in as ${username}` }).click()
      expect(page.url()).toBe(`${registry.url}/`)
      await page.getByRole('link', { name: 'Settings' }).waitFor()
      expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(0)
    }

    await openPage(ana, `${registry.url}/settings/keys`)
    await ana.getByRole('button', { name: 'New key' }).click()
    await ana.getByLabel('Name').fill('laptop')
    await ana.getByRole('button', { name: 'Create key' }).click()
    const key = (await ana.getByText(/^hf_[A-Za-z0-9]{43}$/).textContent()) ?? ''
    const withKey = registryClient({ baseUrl: registry.url, token: key })
    expect((await withKey.getMe()).username).toBe('ana')

    await openPage(ana, `${registry.url}/publish`)
    await ana.locator('input[type=file]').setInputFiles(nanoPath)
    await ana.getByLabel('Details read from the files').waitFor()
    await ana.getByLabel('Name', { exact: true }).fill('tide')
    await ana.getByText('Available. Pull command').waitFor()
    await ana.getByRole('radio', { name: /^Private/ }).check()
    await ana.getByRole('button', { name: 'Publish', exact: true }).click()
    await ana.getByRole('heading', { name: /is published/ }).waitFor({ timeout: 60_000 })

    expect((await ben.goto(`${registry.url}/m/tide`))?.status()).toBe(404)
    await run('login', '--username', 'ben', '--password-stdin')
    expect((await run('pull', 'tide')).exitCode).toBe(3)

    await openPage(ana, `${registry.url}/m/tide/edit`)
    const form = ana.getByRole('form', { name: 'Add a member' })
    await form.getByLabel('Username').fill('ben')
    await form.getByRole('button', { name: 'Add' }).click()
    await ana.getByText('ben can now read.').first().waitFor()
    expect(await accessibilityProblems(ana)).toEqual([])
    expect((await ben.goto(`${registry.url}/m/tide`))?.status()).toBe(200)
    const pulled = await run('pull', 'tide')
    expect(pulled.exitCode, pulled.stderr).toBe(0)
    const bytes = await readFile(pulled.stdout.trim())
    expect(bytes.equals(await readFile(nanoPath))).toBe(true)

    await root.page.getByRole('link', { name: 'Accounts' }).click()
    await root.page.getByRole('button', { name: 'Actions for ana', exact: true }).click()
    await root.page.getByRole('button', { name: 'Disable …', exact: true }).click()
    const dialog = root.page.getByRole('dialog')
    await dialog.getByText('ana can no longer sign in.').waitFor()
    await dialog.getByRole('button', { name: 'Disable account' }).click()
    await root.page.getByText('ana is disabled.').waitFor()
    const rows = root.page.getByRole('row').filter({ hasText: 'ana' })
    await rows.getByRole('cell', { name: 'Disabled' }).waitFor()
    expect(await accessibilityProblems(root.page)).toEqual([])
    await expect(withKey.getMe()).rejects.toMatchObject({ status: 401 })
    await openPage(ana, `${registry.url}/settings/profile`)
    await ana.getByText('Sign in to see this page.').waitFor()
    await ana.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await signIn(ana, 'ana', password)
    await ana.getByRole('alert').filter({ hasText: 'This account is disabled' }).waitFor()

    await root.page.getByRole('link', { name: 'Audit log' }).click()
    for (const entry of [
      'root disabled the account ana',
      /ana .*tide/,
      'ben created the account ben',
      'note: Ben',
    ]) {
      await root.page.getByText(entry).first().waitFor()
    }
    expect(await accessibilityProblems(root.page)).toEqual([])

    await root.page.getByLabel('Action').selectOption('account.disabled')
    await root.page.getByLabel('Subject').fill('ana')
    await root.page.keyboard.press('Enter')
    await root.page.getByText('Entries shown: 1').waitFor()
    expect(new URL(root.page.url()).search).toBe('?action=account.disabled&subject=ana')
    await root.page.goBack()
    await root.page.getByText('ben created the account ben').waitFor()
    expect(await root.page.getByLabel('Subject').inputValue()).toBe('')
  },
)

async function signIn(page: Page, username: string, secret: string) {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(secret)
  await page.keyboard.press('Enter')
}

/** Creates an invitation on the invitations page, and returns its link. */
async function invite(page: Page, note: string): Promise<string> {
  await page.getByRole('button', { name: 'Invite someone' }).click()
  await page.getByLabel('Note (optional)').fill(note)
  await page.getByRole('button', { name: 'Create invitation' }).click()
  const shown = page.locator('section, div').filter({
    has: page.getByRole('heading', { name: `Invitation: ${note}` }),
  })
  const link = await shown
    .getByText(/#invitation=/)
    .last()
    .textContent()
  await page.getByRole('button', { name: 'Done' }).click()
  return link ?? ''
}
