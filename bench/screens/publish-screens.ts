import { setTimeout as sleep } from 'node:timers/promises'
import type { Page, Screen } from './screen.ts'
import type { ShownRegistry } from './shown/registry.ts'
import { type Uploads, uploadedModel } from './shown/uploads.ts'

/**
 * The gate lets 7 of 16 chunks (16 MiB each) through, so that some are stored, one is being sent, and the others are
 * waiting.
 */
const chunksLetThrough = 7

/** Publishing from a browser, step by step. */
export function publishScreens(registry: ShownRegistry, uploads: Uploads): Screen[] {
  const { origin, gate, client, cookies } = registry
  const url = `${origin}/publish`
  const choose = (files: string[]) => (page: Page) => chooseFiles(page, files)
  const screens: Screen[] = [
    { name: 'publish-signed-out', url, cookies: [] },
    { name: 'publish', url },
    { name: 'publish-missing', url, act: publish, isWhole: true },
    { name: 'publish-chosen', url, act: choose(uploads.small), isWhole: true },
    { name: 'publish-large', url, act: choose(uploads.large), isWhole: true },
    { name: 'publish-refused', url, act: choose(uploads.refused) },
    { name: 'publish-uploading', url, act: uploadHalf, tidy: forget },
    { name: 'publish-paused', url, act: pauseHalfWay, tidy: forget },
    { name: 'publish-unfinished', url, act: comeBack, tidy: forget },
    { name: 'publish-done', url, act: uploadAll, tidy: forget },
  ]
  return screens.map((screen) => ({ cookies, ...screen }))

  async function uploadHalf(page: Page) {
    gate.letThrough(chunksLetThrough)
    await chooseFiles(page, uploads.small)
    await publish(page)
    while (gate.stored < chunksLetThrough) await sleep(100)
    await sleep(1500) // until the page shows the speed
  }

  async function pauseHalfWay(page: Page) {
    await uploadHalf(page)
    await page.getByRole('button', { name: 'Pause' }).click()
  }

  async function comeBack(page: Page) {
    await uploadHalf(page)
    page.once('dialog', (dialog) => dialog.accept())
    await page.reload({ waitUntil: 'networkidle' })
  }

  async function uploadAll(page: Page) {
    await chooseFiles(page, uploads.small)
    await publish(page)
    await page.getByRole('link', { name: 'View model' }).waitFor({ timeout: 60_000 })
  }

  /** Deletes the model that was uploaded for the screenshot. */
  async function forget() {
    gate.reset()
    await client.deleteModel(uploadedModel)
  }
}

async function chooseFiles(page: Page, files: string[]) {
  await page.locator('[data-drop] input').setInputFiles(files)
  await page.waitForLoadState('networkidle')
  await sleep(1000) // until the page has read the files and checked the name
}

const publish = (page: Page) => page.getByRole('button', { name: 'Publish', exact: true }).click()
