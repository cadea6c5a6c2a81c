/** What is to be seen on a picture, and how it is taken. */
import { join } from 'node:path'
import type { Page, TestBrowser, Visitor } from '../../testing/browser.ts'

export type { Page }

export type Screen = {
  name: string
  url: string
  /** Of somebody who is signed in. */
  cookies?: Parameters<Visitor['context']['addCookies']>[0]
  /** From its top to its end, rather than what the window shows. */
  isWhole?: boolean
  /** What brings the page to where it is to be seen. */
  act?: (page: Page) => Promise<unknown>
  /** Once the picture is taken and the page is gone. */
  tidy?: () => unknown
}

const looks = (['light', 'dark'] as const).flatMap((theme) =>
  [1360, 390].map((width) => ({ theme, width })),
)

/** Light and dark, wide and narrow. Says what was written, what is wider than its window, and which picture could not be taken. */
export async function takeScreen(browser: TestBrowser, screen: Screen, folder: string) {
  for (const look of looks) {
    const path = join(folder, `${screen.name}-${look.theme}-${look.width}.png`)
    try {
      const isTooWide = await visit(browser, look, screen, path)
      process.stdout.write(`${path}${isTooWide ? ': it can be scrolled sideways' : ''}\n`)
    } catch (error) {
      process.stderr.write(`${path} was not taken: ${(error as Error).message}\n`)
      process.exitCode = 1 // the others are still worth taking
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

/** Whether it is wider than its window. */
async function take({ context, page }: Visitor, screen: Screen, path: string): Promise<boolean> {
  const { url, cookies = [], isWhole = false, act } = screen
  await context.addCookies(cookies)
  await page.goto(url, { waitUntil: 'networkidle' })
  await act?.(page)
  await page.evaluate(nextFrames)
  await page.screenshot({ path, fullPage: isWhole, animations: 'disabled' })
  return await page.locator('html').evaluate((html) => html.scrollWidth > html.clientWidth)
}

/** What opens is put in its place a moment after it has opened. */
const nextFrames = `new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50))))`
