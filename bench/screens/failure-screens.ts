import type { Page, Screen } from './screen.ts'
import type { ShownRegistry } from './shown/registry.ts'

type Answer = { status: number; headers?: Record<string, string>; detail: string }

const failing: Answer = { status: 500, detail: 'internal server error' }
const tooMany: Answer = { status: 429, headers: { 'retry-after': '20' }, detail: 'too many calls' }

const lists = '**/v1/models?*'
const models = '**/v1/models/*'

/**
 * Screens of a registry that fails, or is slow, offline or empty. Unless the registry is empty, the page itself loads,
 * but a later request fails or gets no response.
 */
export function failureScreens({ origin }: ShownRegistry, empty: { origin: string }): Screen[] {
  const url = `${origin}/`
  return [
    { name: 'models-empty', url: empty.origin },
    { name: 'models-broken', url, act: (page) => searchBroken(page) },
    { name: 'models-away', url, act: searchAway },
    { name: 'models-wait', url, act: searchTooOften },
    { name: 'models-slow', url: `${origin}/settings/machine`, act: openSlowList },
    { name: 'model-broken', url, act: openBrokenModel },
    { name: 'model-slow', url, act: openSlowModel },
  ]
}

async function searchBroken(page: Page) {
  await answer(page, lists, failing)
  await search(page)
  await page.getByRole('alert').waitFor({ timeout: 20_000 })
}

async function searchAway(page: Page) {
  await page.route(lists, (route) => route.abort())
  await search(page)
  await page.getByRole('alert').waitFor({ timeout: 20_000 })
}

async function searchTooOften(page: Page) {
  await answer(page, lists, tooMany)
  await search(page)
  await page.getByText(/\d+ s/).last().waitFor()
}

async function openSlowList(page: Page) {
  await neverAnswer(page, lists)
  await page.getByRole('banner').getByRole('link', { name: 'shoal, all models' }).click()
  await page.locator('[aria-busy=true]').waitFor()
}

async function openBrokenModel(page: Page) {
  await answer(page, models, failing)
  await openFirstModel(page)
  await page.getByRole('alert').waitFor({ timeout: 20_000 })
}

async function openSlowModel(page: Page) {
  await neverAnswer(page, models)
  await openFirstModel(page)
  await page.locator('[aria-busy=true]').first().waitFor()
}

function answer(page: Page, url: string, { status, headers = {}, detail }: Answer) {
  return page.route(url, (route) => route.fulfill({ status, headers, json: { detail } }))
}

const neverAnswer = (page: Page, url: string) => page.route(url, () => undefined)

const search = (page: Page) => page.getByRole('searchbox', { name: 'Search models' }).fill('coder')

const openFirstModel = (page: Page) =>
  page.getByRole('main').getByRole('listitem').getByRole('heading').first().click()
