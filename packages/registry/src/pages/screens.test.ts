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
  type Request,
  startBrowser,
  type TestBrowser,
  type Visitor,
} from '../../../../testing/browser.ts'
import { makeReleaseKey, writeRelease } from '../../../releases/src/testing/write-release.ts'
import { openOwnReleases } from '../releases/own-releases.ts'
import { expectUsable } from '../testing/expect-usable.ts'
import { watchLayoutShift } from '../testing/layout-shift.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('in a browser', () => {
  const stack = new AsyncDisposableStack()
  let registry: TestRegistry
  let empty: TestRegistry
  let browser: TestBrowser
  let ana: string
  let stranger: Visitor
  /** A visitor who is signed in as `ana`. */
  let member: Visitor

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
    // With reduced motion, the theme changes immediately. During a transition, the colors would have too little
    // contrast.
    stranger = await browser.newVisitor({ reducedMotion: 'reduce' })
    member = await browser.newVisitor({ reducedMotion: 'reduce' })
    const origin = getOrigin(registry)
    const data = { username: 'ana', password: 'password of ana' }
    await member.context.request.post(`${origin}/v1/auth/login`, { data, headers: { origin } })
  })
  afterAll(() => stack.disposeAsync())

  const getOrigin = ({ port }: TestRegistry) => `http://localhost:${port}`

  const screens: [name: string, path: string, wishes?: Options][] = [
    ['the list', '/', { maxKilobytes: 140 }],
    ['a search', '/?q=tide'],
    ['a search that finds nothing', '/?q=desert'],
    ['a page of the list', '/?page=2&sort=created_at'],
    ['an empty registry', '/', { isEmpty: true }],
    ['a model', '/m/tide-7b', { maxKilobytes: 150 }],
    ['its files', '/m/tide-7b?tab=files'],
    ['its metadata', '/m/tide-7b?tab=metadata', { maxKilobytes: 150 }],
    ['a model without files', '/m/storm-1?tab=files'],
    ['a missing model', '/m/tidd', { fails: true }],
    ['an unknown page', '/nowhere', { fails: true }],
    ['an owner', '/u/ana', { maxKilobytes: 150 }],
    ['a missing owner', '/u/nobody', { fails: true }],
    ['signing in', '/login'],
    ['publishing without a session', '/publish', { maxKilobytes: 150 }],
    ['registering', '/register', { maxKilobytes: 150 }],
    ['settings without a session', '/settings/keys', { maxKilobytes: 150 }],
    ['a profile', '/settings/profile', { isSignedIn: true }],
    ['API keys', '/settings/keys', { isSignedIn: true }],
    ['sessions', '/settings/sessions', { isSignedIn: true }],
    ['the machine', '/settings/machine'],
    ['sharing', '/settings/sharing'],
    ['editing', '/m/tide-7b/edit', { isSignedIn: true }],
    ['accounts', '/admin', { isSignedIn: true }],
    ['invitations', '/admin/invitations', { isSignedIn: true }],
    ['the audit log', '/admin/audit', { isSignedIn: true }],
    ['administration without a session', '/admin', { maxKilobytes: 150 }],
    ['installing shoal', '/install'],
    ['installing shoal, without a release', '/install', { isEmpty: true }],
  ]

  test.each(screens)('%s is accessible', async (_, path, screenOptions = {}) => {
    const { isEmpty, isSignedIn, maxKilobytes } = screenOptions
    const { page, takeProblems } = isSignedIn ? member : stranger
    const names = new Set<string>()
    const note = (request: Request) => {
      const { pathname } = new URL(request.url())
      if (/\.(js|css)$/.test(pathname)) names.add(pathname)
    }
    page.on('request', note)
    const origin = getOrigin(isEmpty ? empty : registry)
    await openPage(page, origin + path)
    page.off('request', note)
    if (maxKilobytes !== undefined) {
      expect(names.size).toBeGreaterThan(2)
      expect(await compressedKilobytes(names)).toBeLessThanOrEqual(maxKilobytes)
    }
    await expectUsable(page)
    expect(takeProblems().filter((one) => !isExpected(one, screenOptions))).toEqual([])
  })

  /** What opens screens one after another, and the call whose response each of them shows. */
  const ways: [from: string, links: [link: string, call: RegExp, hasNoPlaceholder?: true][]][] = [
    ['/login', [['shoal, all models', /\/v1\/models\?/]]],
    [
      '/?q=tide',
      [
        ['Tide 7B', /\/v1\/models\/tide-7b$/],
        ['Metadata', /\/files\/[^/]+$/],
        ['ana', /\/v1\/users\//, true],
      ],
    ],
    ['/?q=tide-7b', [['Tide 7B', /\/files$/]]],
    ['/m/tide-7b?tab=files', [['Model card', /\/card$/]]],
    [
      '/settings/profile',
      [
        ['API keys', /\/v1\/api-keys$/],
        ['Sessions', /\/v1\/auth\/sessions$/],
      ],
    ],
    [
      '/admin/status',
      [
        ['Accounts', /\/v1\/admin\/users$/],
        ['Invitations', /\/v1\/admin\/invitations$/],
        ['Audit log', /\/v1\/admin\/audit\?/],
      ],
    ],
  ]

  test.each(ways)(
    'placeholders and errors of the pages after %s are accessible',
    async (from, links) => {
      const { page, takeProblems } = member
      await openPage(page, getOrigin(registry) + from)
      for (const [link, call, hasNoPlaceholder] of links) {
        const held = Promise.withResolvers<void>()
        await page.route(call, async (route) => {
          await held.promise
          await route.fulfill({ status: 500, body: '{"detail":"broken"}' })
        })
        await page.getByRole('link', { name: link }).first().click()
        if (!hasNoPlaceholder) {
          await page.locator('main [aria-busy="true"]').first().waitFor()
          await expectUsable(page)
        }
        held.resolve()
        await page.getByText('Registry error').first().waitFor()
        await expectUsable(page)
        await page.unroute(call)
        const retries = page.getByRole('button', { name: 'Try again' })
        await retries.evaluateAll((all: { click(): void }[]) => {
          for (const one of all) one.click()
        })
        await expect.poll(() => page.getByText('Registry error').count()).toBe(0)
      }
      expect(takeProblems().filter((one) => !one.includes('status of 500'))).toEqual([])
    },
  )

  test('the layout does not shift when the scripts take over from the server-rendered page', async () => {
    for (const path of ['/', '/m/tide-7b', '/m/tide-7b?tab=files']) {
      await using visitor = await browser.newVisitor()
      const { page } = visitor
      const getShift = await watchLayoutShift(page)
      await openPage(page, getOrigin(registry) + path)
      expect(await getShift()).toBeLessThan(0.05)
    }
  })

  test('a hostile card is harmless and readable', async () => {
    const readme = await readFile(
      join(import.meta.dirname, '../../../cards/src/testing/hostile-card.md'),
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
})

/** Returns the total size of scripts and styles, compressed as they are sent, in kilobytes. */
async function compressedKilobytes(names: Iterable<string>): Promise<number> {
  const { directory = '' } = (await findSite()) ?? {}
  const paths = [...names].map((name) => join(directory, `${name}.gz`))
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
  return sizes.reduce((sum, size) => sum + size, 0) / 1000
}

type Options = {
  isEmpty?: boolean
  isSignedIn?: boolean
  /** The registry responds with a 404, which the browser logs. */
  fails?: boolean
  /** The limit for the compressed scripts and styles of the page. */
  maxKilobytes?: number
}

const isExpected = (problem: string, { fails }: Options): boolean =>
  fails === true && problem.includes('status of 404')
