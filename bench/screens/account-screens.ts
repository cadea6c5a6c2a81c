import type { Page, Screen } from './screen.ts'
import { medicalModel } from './shown/models.ts'
import type { ShownRegistry } from './shown/registry.ts'

const newKeyName = 'workshop'

/** Screens of a signed-in user. */
export function accountScreens({ origin, client, cookies }: ShownRegistry): Screen[] {
  const edit = `${origin}/m/${medicalModel}/edit`
  const settings = `${origin}/settings`
  const screens: Screen[] = [
    { name: 'account-menu', url: `${origin}/`, act: openAccountMenu },
    { name: 'model-own', url: `${origin}/m/${medicalModel}` },
    { name: 'model-without-files', url: `${origin}/m/tide-7b` },
    { name: 'owner-self', url: `${origin}/u/ines` },
    { name: 'model-edit', url: edit },
    { name: 'model-edit-whole', url: edit, isWhole: true },
    { name: 'model-delete', url: edit, act: askToDelete },
    { name: 'settings-profile', url: settings },
    { name: 'settings-keys', url: `${settings}/keys` },
    { name: 'settings-new-key', url: `${settings}/keys`, act: startKey },
    { name: 'settings-key-made', url: `${settings}/keys`, act: makeKey, tidy: deleteNewKey },
    { name: 'settings-key-revoke', url: `${settings}/keys`, act: askToRevoke },
    { name: 'settings-sessions', url: `${settings}/sessions` },
  ]
  return screens.map((screen) => ({ ...screen, cookies }))

  async function deleteNewKey() {
    for (const { id, name } of await client.listApiKeys()) {
      if (name === newKeyName) await client.deleteApiKey(id)
    }
  }
}

const openAccountMenu = (page: Page) => page.getByRole('button', { name: /^Signed in as/ }).click()

const startKey = (page: Page) => page.getByRole('button', { name: 'New key' }).click()

async function makeKey(page: Page) {
  await startKey(page)
  await page.getByLabel('Name', { exact: true }).fill(newKeyName)
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Copy the key' }).waitFor()
  await page.getByRole('button', { name: `Revoke ${newKeyName}` }).waitFor()
}

const askToRevoke = (page: Page) => page.getByRole('button', { name: 'Revoke ci' }).click()

async function askToDelete(page: Page) {
  const section = page.getByRole('region', { name: 'Delete model' })
  await section.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').waitFor()
}
