/** Runs Debian's Chromium, and records errors and forbidden requests of the pages. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
} from 'playwright-core'

/** How long to wait for an element or a page. On a busy machine, Playwright's default of 30 s is too short. */
const waitTimeoutMs = 90_000

export type { Page, Request }

/**
 * Options for a browser without background connections to other machines, and without a sandbox, so that it can run as
 * root.
 */
const options = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const [wide, narrow] = [1360, 390] // pixels
const twoLooks = [
  { theme: 'light', width: wide },
  { theme: 'dark', width: narrow },
] satisfies Options[]
const otherLooks = [
  { theme: 'light', width: narrow },
  { theme: 'dark', width: wide },
] satisfies Options[]

/** Themes and window widths for pages: each theme and each width once, or with SHOAL_TEST_LOOKS=all, all combinations. */
export const looks =
  process.env.SHOAL_TEST_LOOKS === 'all' ? [...twoLooks, ...otherLooks] : twoLooks

type Options = {
  width?: number
  height?: number
  theme?: 'light' | 'dark'
  /** False to disable JavaScript. */
  scripts?: boolean
  reducedMotion?: 'reduce' | 'no-preference'
  /** Cookies and databases from an earlier visit. */
  storageState?: NonNullable<BrowserContextOptions['storageState']>
}

export type TestBrowser = Awaited<ReturnType<typeof startBrowser>>
export type Visitor = Awaited<ReturnType<typeof visitor>>

/**
 * Starts the browser whose executable is at the path `program`. Requests to origins that are not in `origins` are
 * recorded as problems. The browser exits when it is disposed of.
 */
export async function startBrowser(program: string, origins: readonly string[]) {
  const browser = await chromium.launch({ executablePath: program, args: options })
  return {
    /** Opens a new browser context, whose only cookies and stored data are those in `storageState`. */
    async newVisitor(visitorOptions: Options = {}) {
      const {
        width = 1360,
        height = 860,
        theme = 'light',
        scripts = true,
        storageState,
      } = visitorOptions
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        javaScriptEnabled: scripts,
        reducedMotion: visitorOptions.reducedMotion ?? 'no-preference',
        ...(storageState && { storageState }),
      })
      context.setDefaultTimeout(waitTimeoutMs)
      return visitor(context, origins)
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

async function visitor(context: BrowserContext, origins: readonly string[]) {
  const problems: string[] = []
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    const isOurs = origins.includes(origin) || protocol === 'data:' || protocol === 'blob:'
    if (!isOurs) problems.push(`request to ${request.url()}`)
  })
  context.on('weberror', (error) => problems.push(String(error.error())))
  context.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  return {
    context,
    page: await context.newPage(),
    /** Returns the logged errors, requests to other origins, and CSP violations recorded since the last call. */
    takeProblems: () => problems.splice(0),
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/**
 * Opens a page of a registry, and waits until its scripts have replaced the server-rendered page. Until then, buttons
 * have no effect, and links load a whole page. On a busy machine, the network can be idle before the scripts have run.
 */
export async function openPage(page: Page, url: string) {
  const response = await page.goto(url, { waitUntil: 'networkidle' })
  await untilInteractive(page)
  return response
}

/** Like `openPage`, but reloads the page. */
export async function reloadPage(page: Page) {
  await page.reload({ waitUntil: 'networkidle' })
  await untilInteractive(page)
}

const untilInteractive = (page: Page) => page.locator('html[data-interactive]').waitFor()

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns the violations of WCAG 2.2 AA, and of axe's best practices, that axe detects in a page. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(`${axe}; undefined`)
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const options = JSON.stringify({ runOnly: tags, resultTypes: ['violations'] })
  const found = await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target).join(', ')))`,
  )
  return found as string[]
}
