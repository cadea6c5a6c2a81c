/**
 * Tests every page in a real browser, in each theme and at the width of a phone, for accessibility and reported errors.
 */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findSite } from '@shoal/web'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  accessibilityProblems,
  openPage,
  startBrowser,
  type TestBrowser,
  type Visitor,
} from '../../../../testing/browser.ts'
import { makeReleaseKey, writeRelease } from '../../../releases/src/testing/write-release.ts'
import { openOwnReleases } from '../releases/own-releases.ts'
import { expectUsable } from '../testing/expect-usable.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('in a browser', () => {
  const stack = new AsyncDisposableStack()
  let registry: TestRegistry
  let empty: TestRegistry
  let browser: TestBrowser
  let ana: string

  beforeAll(async () => {
    registry = await startTestRegistry()
    empty = await startTestRegistry()
    stack.defer(() => Promise.all([registry.close(), empty.close()]).then(() => undefined))
    browser = stack.use(await startBrowser(chromium ?? '', [getOrigin(registry), getOrigin(empty)]))
    ana = await registry.register('ana')
    const tide = { name: 'tide-7b', display_name: 'Tide 7B', tags: ['ocean'], license: 'mit' }
    await publish(
      registry,
      ana,
      { ...tide, readme: '# Tide\n\nA *model*.' },
      'tide-Q8_0.gguf',
      smallGguf(1),
    )
    for (let index = 0; index < 25; index += 1) {
      await registry.post('/v1/models', { token: ana, body: { name: `storm-${index}` } })
    }
    await using release = await writeRelease({ key: makeReleaseKey() })
    await openOwnReleases(registry.config).add([release.path], async () => undefined)
    await registry.post('/v1/api-keys', { token: ana, body: { name: 'laptop' } })
  })
  afterAll(() => stack.disposeAsync())

  const getOrigin = ({ port }: TestRegistry) => `http://localhost:${port}`

  const screens: [name: string, path: string, wishes?: Options][] = [
    ['the list', '/'],
    ['a search', '/?q=tide'],
    ['a search that finds nothing', '/?q=desert'],
    ['a page of the list', '/?page=2&sort=created_at'],
    ['an empty registry', '/', { isEmpty: true }],
    ['a model', '/m/tide-7b'],
    ['its files', '/m/tide-7b?tab=files'],
    ['its metadata', '/m/tide-7b?tab=metadata'],
    ['a model without files', '/m/storm-1?tab=files'],
    ['a missing model', '/m/tidd', { fails: true }],
    ['an unknown page', '/nowhere', { fails: true }],
    ['an owner', '/u/ana'],
    ['a missing owner', '/u/nobody', { fails: true }],
    ['signing in', '/login'],
    ['registering', '/register'],
    ['settings without a session', '/settings/keys'],
    ['a profile', '/settings/profile', { isSignedIn: true }],
    ['API keys', '/settings/keys', { isSignedIn: true }],
    ['sessions', '/settings/sessions', { isSignedIn: true }],
    ['the machine', '/settings/machine'],
    ['sharing', '/settings/sharing'],
    ['editing', '/m/tide-7b/edit', { isSignedIn: true }],
    ['accounts', '/admin', { isSignedIn: true }],
    ['invitations', '/admin/invitations', { isSignedIn: true }],
    ['the audit log', '/admin/audit', { isSignedIn: true }],
    ['administration without a session', '/admin'],
    ['installing shoal', '/install', { hasNoScripts: true }],
    ['installing shoal, without a release', '/install', { isEmpty: true, hasNoScripts: true }],
  ]

  test.concurrent.each(screens)('%s is accessible', async (_, path, screenOptions = {}) => {
    // With reduced motion, the theme changes immediately. During a transition, the colors would have too little
    // contrast.
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const { page, takeProblems } = visitor
    const origin = getOrigin(screenOptions.isEmpty ? empty : registry)
    if (screenOptions.isSignedIn) await signIn(visitor, origin)
    if (screenOptions.hasNoScripts) await page.goto(origin + path, { waitUntil: 'networkidle' })
    else await openPage(page, origin + path)
    await expectUsable(page)
    expect(takeProblems().filter((one) => !isExpected(one, screenOptions))).toEqual([])
  })

  test('every page links to the page that explains how to install shoal', async () => {
    await using visitor = await browser.newVisitor()
    const { page, takeProblems } = visitor
    await openPage(page, `${getOrigin(registry)}/m/tide-7b`)
    await page.getByRole('contentinfo').getByRole('link', { name: 'Install shoal' }).click()
    await page.getByRole('heading', { name: 'Install shoal' }).waitFor()
    await page.getByText('sh shoal-install.sh', { exact: true }).waitFor()
    expect(takeProblems()).toEqual([])
  })

  const ways: [name: string, from: string, link: string, call: RegExp][] = [
    ['the list', '/login', 'shoal, all models', /\/v1\/models\?/],
    ['a model', '/?q=tide', 'Tide 7B', /\/v1\/models\/tide-7b$/],
    ['its files', '/?q=tide', 'Tide 7B', /\/files$/],
    ['its card', '/m/tide-7b?tab=files', 'Model card', /\/card$/],
    ['an owner', '/m/tide-7b', 'ana', /\/v1\/users\//],
    ['API keys', '/settings/profile', 'API keys', /\/v1\/api-keys$/],
    ['sessions', '/settings/profile', 'Sessions', /\/v1\/auth\/sessions$/],
    ['accounts', '/admin/audit', 'Accounts', /\/v1\/admin\/users$/],
    ['invitations', '/admin', 'Invitations', /\/v1\/admin\/invitations$/],
    ['the audit log', '/admin', 'Audit log', /\/v1\/admin\/audit\?/],
  ]
  test.concurrent.each(ways)(
    '%s loads after a retry once the registry works again',
    async (_, from, link, call) => {
      await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
      const { page } = visitor
      await signIn(visitor, getOrigin(registry))
      await openPage(page, getOrigin(registry) + from)
      await page.route(call, (route) => route.fulfill({ status: 500, body: '{"detail":"broken"}' }))
      await page.getByRole('link', { name: link }).first().click()
      await page.getByText('Registry error').first().waitFor()
      expect(await page.getByText('No file is ready yet').count()).toBe(0)
      await expectUsable(page)
      await page.unroute(call)
      await page.getByRole('button', { name: 'Try again' }).first().click()
      await page.getByText('Registry error').waitFor({ state: 'detached' })
    },
  )

  test('a registry that is offline or busy is reported as such', async () => {
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const { page } = visitor
    const call = /\/v1\/models\?/
    await openPage(page, `${getOrigin(registry)}/login`)
    await page.route(call, (route) => route.abort())
    await page.getByRole('link', { name: 'shoal, all models' }).click()
    await page.getByText('The registry is not responding').waitFor()
    await page.unroute(call)
    const headers = { 'retry-after': '2' }
    const busy = { status: 429, headers, body: '{"detail":"too many calls"}' }
    let isBusy = true
    await page.route(call, (route) => (isBusy ? route.fulfill(busy) : route.continue()))
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(/^The registry is busy\. Retrying in [12] s\./).waitFor()
    isBusy = false
    await page.getByRole('heading', { name: /^\d+ models$/ }).waitFor()
  })

  test.concurrent.each(ways.slice(0, 2))(
    'a placeholder is shown while %s loads',
    async (_, from, link, call) => {
      await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
      const { page } = visitor
      await openPage(page, getOrigin(registry) + from)
      const held = Promise.withResolvers<void>()
      await page.route(call, (route) => held.promise.then(() => route.continue()))
      await page.getByRole('link', { name: link }).click()
      await page.locator('[aria-busy="true"]').first().waitFor()
      await expectUsable(page)
      held.resolve()
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
      await page
        .getByRole('link', { name: /Tide|storm/ })
        .or(page.getByText('by ana'))
        .first()
        .waitFor()
    },
  )

  test('the layout does not shift when the scripts take over from the server-rendered page', async () => {
    for (const path of ['/', '/m/tide-7b', '/m/tide-7b?tab=files']) {
      await using visitor = await browser.newVisitor()
      const { page } = visitor
      await page.addInitScript(`
        window.shifts = []
        new PerformanceObserver((list) => {
          for (const { value } of list.getEntries()) shifts.push(value)
        }).observe({ type: 'layout-shift', buffered: true })`)
      await openPage(page, getOrigin(registry) + path)
      const shifts = (await page.evaluate('shifts')) as number[]
      expect(shifts.reduce((sum, one) => sum + one, 0)).toBeLessThan(0.05)
    }
  })

  test.concurrent.each([
    ['the list', '/', 140],
    ['a model', '/m/tide-7b', 150],
    ['its metadata', '/m/tide-7b?tab=metadata', 150],
    ['an owner', '/u/ana', 150],
    ['registering', '/register', 150],
    ['settings', '/settings/keys', 150],
    ['publishing', '/publish', 150],
    ['administration', '/admin', 150],
  ])('the scripts and styles of %s stay within their limit', async (_, path, maxKilobytes) => {
    await using visitor = await browser.newVisitor()
    const { page, context } = visitor
    const names = new Set<string>()
    context.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (/\.(js|css)$/.test(pathname)) names.add(pathname)
    })
    await openPage(page, getOrigin(registry) + path)
    const { directory = '' } = (await findSite()) ?? {}
    const sizes = await Promise.all(
      [...names].map(async (name) => (await stat(join(directory, `${name}.gz`))).size),
    )
    expect(names.size).toBeGreaterThan(2)
    expect(sizes.reduce((sum, size) => sum + size, 0) / 1000).toBeLessThanOrEqual(maxKilobytes)
  })

  test('a hostile card is harmless and readable', async () => {
    const readme = await readFile(
      join(import.meta.dirname, '../cards/testing/hostile-card.md'),
      'utf8',
    )
    await registry.post('/v1/models', { token: ana, body: { name: 'hostile', readme } })
    await using visitor = await browser.newVisitor()
    const { page, takeProblems } = visitor
    await openPage(page, `${getOrigin(registry)}/m/hostile`)
    await page.getByRole('link', { name: 'Show external images' }).waitFor() // not in the card's source
    expect(await page.getByText('harmless words').first().isVisible()).toBe(true)
    expect(await page.evaluate('window.attacked')).toBeUndefined()
    expect(takeProblems()).toEqual([])
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('the list, a search and a model work without scripts', async () => {
    await using visitor = await browser.newVisitor({ scripts: false })
    const { page } = visitor
    await page.goto(getOrigin(registry))
    await page.getByRole('searchbox', { name: 'Search models' }).fill('tide')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Tide 7B' }).click()
    await page.getByRole('link', { name: /^Files/ }).click()
    await page.getByRole('heading', { name: 'Choose a file' }).waitFor()
  })

  async function signIn({ context }: Visitor, origin: string) {
    const data = { username: 'ana', password: 'password of ana' }
    await context.request.post(`${origin}/v1/auth/login`, { data, headers: { origin } })
  }
})

type Options = {
  isEmpty?: boolean
  isSignedIn?: boolean
  hasNoScripts?: boolean
  /** The registry responds with a 404, which the browser logs. */
  fails?: boolean
}

const isExpected = (problem: string, { fails }: Options): boolean =>
  fails === true && problem.includes('status of 404')
