import type { BrowserContext, Page } from 'playwright-core'
import { startBrowser } from '../browser.ts'
import { findChromium } from '../programs.ts'
import { fixture, recorded } from './fixture.ts'
import { until } from './until.ts'

const { registryUrl, daemonUrl } = recorded

/**
 * In a browser, chats with a model on the daemon's page and begins to publish a file on the registry's page. Returns
 * the browser's cookies and databases.
 */
export async function browse(modelPath: string) {
  await using browser = await startBrowser(findChromium() ?? '', [registryUrl, daemonUrl])
  await using visitor = await browser.newVisitor()
  const { page, context } = visitor
  await chat(page)
  await publishHalf(page, context, modelPath)
  const { cookies, origins } = await context.storageState({ indexedDB: true })
  return { cookies: cookies.map((cookie) => ({ ...cookie, expires: -1 })), origins }
}

async function chat(page: Page) {
  await page.goto(daemonUrl)
  await page.getByLabel('Model').selectOption('shoal-nano')
  await page.getByRole('button', { name: /^Parameters/ }).click()
  await page.getByLabel('Temperature').fill('0')
  await page.getByLabel('Max tokens').fill('8')
  await page.getByLabel('Seed').fill('7')
  await page.keyboard.press('Escape')
  await ask(page, 'What is the tide?')
  await ask(page, 'And the moon?')
  await page.getByRole('button', { name: /^More about/ }).click()
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByLabel('Name of the chat').fill('Tides')
  await page.keyboard.press('Enter')
  await page.locator('a:focus', { hasText: 'Tides' }).waitFor()
  await page.getByRole('link', { name: 'New chat' }).click()
  await ask(page, 'Hello')
}

async function ask(page: Page, question: string) {
  const answers = page.getByRole('button', { name: 'Copy the answer' })
  const before = await answers.count()
  await page.getByRole('textbox', { name: /message/i }).fill(question)
  await page.getByRole('button', { name: 'Send' }).click()
  await until(async () => (await answers.count()) > before)
}

/** Begins to publish a file: uploads its second chunk, but not its first. */
async function publishHalf(page: Page, context: BrowserContext, modelPath: string) {
  const signIn = { headers: { origin: registryUrl }, data: fixture.ana }
  await context.request.post(`${registryUrl}/v1/auth/login`, signIn)
  await page.goto(`${registryUrl}/publish`, { waitUntil: 'networkidle' })
  await page.getByRole('button', { name: 'Change between light and dark' }).click()
  await page.route(/partNumber=1&/, () => undefined) // never sent
  const sent = page.waitForResponse(/partNumber=2&/)
  await page.locator('input[type=file]').setInputFiles(modelPath)
  await page.getByText('Available. Others write').waitFor()
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await (await sent).finished()
}
