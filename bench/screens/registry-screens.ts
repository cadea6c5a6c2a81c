import type { Page, Screen } from './screen.ts'
import { largeModel, medicalModel, visionModel } from './shown/models.ts'
import type { ShownRegistry } from './shown/registry.ts'

/** Screens that a visitor sees without signing in. */
export function registryScreens({ origin }: ShownRegistry): Screen[] {
  const model = `${origin}/m/${medicalModel}`
  return [
    { name: 'models', url: `${origin}/` },
    { name: 'models-whole', url: `${origin}/`, isWhole: true },
    { name: 'models-search', url: `${origin}/?q=instruct&fits=16` },
    { name: 'models-filtered', url: `${origin}/?architecture=gemma3&tag=vision&sort=likes` },
    { name: 'models-none', url: `${origin}/?q=zzzzzz` },
    { name: 'menu', url: `${origin}/`, act: openMenu },
    { name: 'model', url: model },
    { name: 'model-whole', url: model, isWhole: true },
    { name: 'model-files', url: `${model}?tab=files` },
    { name: 'model-files-whole', url: `${model}?tab=files`, isWhole: true },
    { name: 'model-files-open', url: `${model}?tab=files`, act: openFile },
    { name: 'model-files-large', url: `${origin}/m/${largeModel}?tab=files`, isWhole: true },
    { name: 'model-files-vision', url: `${origin}/m/${visionModel}?tab=files`, isWhole: true },
    { name: 'model-metadata', url: `${model}?tab=metadata` },
    { name: 'model-metadata-whole', url: `${model}?tab=metadata`, isWhole: true },
    { name: 'model-unknown', url: `${origin}/m/qwen-3-medical` },
    { name: 'nothing', url: `${origin}/nowhere` },
    { name: 'owner', url: `${origin}/u/ines` },
    { name: 'owner-unknown', url: `${origin}/u/nobody` },
    { name: 'chat-of-registry', url: `${origin}/chat` },
    { name: 'install', url: `${origin}/install`, isWhole: true },
    { name: 'login', url: `${origin}/login` },
    { name: 'login-refused', url: `${origin}/login`, act: signInWrongly },
    { name: 'register', url: `${origin}/register` },
    { name: 'settings-machine', url: `${origin}/settings/machine` },
    { name: 'settings-sharing', url: `${origin}/settings/sharing` },
  ]
}

/** Opens the menu, which is shown only in windows that are too narrow for the links. */
async function openMenu(page: Page) {
  const menu = page.getByRole('button', { name: 'Menu' })
  if (await menu.isVisible()) await menu.click()
}

/** Opens the details of a file, and the menu with more ways to get the file. */
async function openFile(page: Page) {
  await page.getByRole('button', { name: 'Details of Q4_K_M' }).click()
  await page.getByRole('button', { name: 'More ways to get Q4_K_M' }).click()
}

async function signInWrongly(page: Page) {
  await page.getByLabel('Username').fill('ines')
  await page.getByLabel('Password', { exact: true }).fill('wrong horse')
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor()
}
