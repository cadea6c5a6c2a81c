/** The screens to capture, and how their screenshots are taken. */
import { join } from 'node:path'
import type { Page, TestBrowser, Visitor } from '../../testing/browser.ts'

export type { Page }

export type Screen = {
  name: string
  url: string
  /** The cookies of a signed-in user. */
  cookies?: Parameters<Visitor['context']['addCookies']>[0]
  /** Whether to capture the full page instead of only the visible part. */
  isWhole?: boolean
  /** Brings the page into the state that the screenshot shows. */
  act?: (page: Page) => Promise<unknown>
  /** Cleans up after the page has been closed. */
  tidy?: () => unknown
}

const looks = (['light', 'dark'] as const).flatMap((theme) =>
  [1360, 390].map((width) => ({ theme, width })),
)

/**
 * Takes screenshots of a screen in each theme and width. Prints the path of each file, whether the page scrolls
 * horizontally, and any failures.
 */
export async function takeScreen(browser: TestBrowser, screen: Screen, folder: string) {
  for (const look of looks) {
    const path = join(folder, `${screen.name}-${look.theme}-${look.width}.png`)
    try {
      const isTooWide = await visit(browser, look, screen, path)
      process.stdout.write(`${path}${isTooWide ? ': the page scrolls horizontally' : ''}\n`)
    } catch (error) {
      process.stderr.write(`could not take the screenshot ${path}: ${(error as Error).message}\n`)
      process.exitCode = 1 // does not exit: the other screenshots are still taken
    }
  }
}

type Look = (typeof looks)[number]

async function visit(browser: TestBrowser, look: Look, screen: Screen, path: string) {
  try {
    await using visitor = await browser.newVisitor(look)
    return await take(visitor, screen, path)
  } finally {
    await screen.tidy?.()
  }
}

/** Takes a screenshot. Returns whether the page is wider than its window. */
async function take({ context, page }: Visitor, screen: Screen, path: string): Promise<boolean> {
  const { url, cookies = [], isWhole = false, act } = screen
  await context.addCookies(cookies)
  await page.goto(url, { waitUntil: 'networkidle' })
  await act?.(page)
  await page.evaluate(nextFrames)
  await page.screenshot({ path, fullPage: isWhole, animations: 'disabled' })
  return await page.locator('html').evaluate((html) => html.scrollWidth > html.clientWidth)
}

/** Waits for two frames and 50 ms more, because a popover reaches its position only shortly after it has opened. */
const nextFrames = `new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50))))`
