import type { Page, Screen } from './screen.ts'
import type { ShownRegistry } from './shown/registry.ts'

/** Screens of an administrator. */
export function adminScreens({ origin, admin, adminCookies }: ShownRegistry): Screen[] {
  const url = `${origin}/admin`
  let added = 0 // the username of a removed account stays reserved
  const invitations = `${url}/invitations`
  const screens: Screen[] = [
    { name: 'admin-accounts', url },
    { name: 'admin-account-menu', url, act: openMenu },
    { name: 'admin-account-add', url, act: (page) => page.getByText('Add account').click() },
    {
      name: 'admin-account-added',
      url,
      act: addAccount,
      tidy: () => admin.removeUser(`noa-${added}`),
    },
    { name: 'admin-disable', url, act: (page) => choose(page, 'Disable …') },
    { name: 'admin-quota', url, act: (page) => choose(page, 'Quota …') },
    { name: 'admin-keys', url, act: (page) => choose(page, 'API keys …') },
    { name: 'admin-remove', url, act: (page) => choose(page, 'Remove …') },
    { name: 'admin-last', url, act: disableLastAdmin },
    { name: 'admin-invitations', url: invitations, act: invite },
    { name: 'admin-audit', url: `${url}/audit` },
  ]
  return screens.map((screen) => ({ ...screen, cookies: adminCookies }))

  async function addAccount(page: Page) {
    added += 1
    await page.getByText('Add account').click()
    await page.getByLabel('Username').fill(`noa-${added}`)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('button', { name: 'Copy the password' }).waitFor()
  }
}

const openMenu = (page: Page) => page.getByRole('button', { name: 'Actions for ines' }).click()

async function choose(page: Page, action: string) {
  await openMenu(page)
  await page.getByRole('button', { name: action }).click()
}

async function disableLastAdmin(page: Page) {
  await page.getByRole('button', { name: 'Actions for kaya' }).click()
  await page.getByRole('button', { name: 'Disable …' }).click()
  await page.getByRole('button', { name: 'Disable account' }).click()
  await page.getByText('last active administrator').waitFor()
}

async function invite(page: Page) {
  await page.getByRole('button', { name: 'Invite someone' }).click()
  await page.getByLabel('Note (optional)').fill('Noa from the lab')
  await page.getByRole('button', { name: 'Create invitation' }).click()
  await page.getByRole('button', { name: 'Copy the link' }).waitFor()
  await page
    .getByRole('button', { name: /^Revoke/ })
    .first()
    .waitFor()
}
