/** Tests with a real browser that visitors can sign in, and that links on other sites do not sign them out. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openPage, startBrowser, type TestBrowser } from '../../../../testing/browser.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('signing in from a browser', () => {
  const stack = new AsyncDisposableStack()
  let registry: TestRegistry
  let browser: TestBrowser
  let elsewhere: string

  beforeAll(async () => {
    registry = await startTestRegistry()
    const token = await registry.register('ana')
    const reef = { name: 'reef', display_name: 'Secret Reef', is_public: false }
    await registry.post('/v1/models', { token, body: reef })
    const page = `<a href="http://localhost:${registry.port}/m/reef">Look</a>`
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(page),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    stack.defer(() => {
      server.close()
      return registry.close()
    })
    elsewhere = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const own = ['localhost', '127.0.0.1'].map((name) => `http://${name}:${registry.port}`)
    browser = stack.use(await startBrowser(chromium ?? '', [...own, elsewhere]))
  })
  afterAll(() => stack.disposeAsync())

  test('works for visitors who use another local name, and returns them to the page', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await openPage(page, `http://127.0.0.1:${registry.port}/settings/keys`)
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await page.getByLabel('Username').fill('ana')
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'wrong' }).waitFor()
    await page.getByLabel('Password', { exact: true }).fill('password of ana')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'New key' }).waitFor()
    expect(page.url()).toBe(`http://localhost:${registry.port}/settings/keys`)
  })

  test('persists when a link on another site is followed, although that request is sent without the cookie', async () => {
    await using visitor = await browser.newVisitor()
    const { page, context } = visitor
    const origin = `http://localhost:${registry.port}`
    const data = { username: 'ana', password: 'password of ana' }
    await context.request.post(`${origin}/v1/auth/login`, { data, headers: { origin } })
    await page.goto(elsewhere)
    await page.getByRole('link', { name: 'Look' }).click()
    await page.getByRole('heading', { name: 'Secret Reef' }).waitFor()
    await page.getByRole('button', { name: 'Signed in as ana' }).waitFor()
  })
})
