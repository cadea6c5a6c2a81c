import { expect } from 'vitest'
import { accessibilityProblems, looks, type Page } from '../../../../testing/browser.ts'

/** Checks that a page is accessible in each theme and never wider than its window, whose size is then restored. */
export async function expectUsable(page: Page) {
  const size = page.viewportSize()
  for (const { theme, width } of looks) {
    // Without transitions, the colors do not depend on when they are checked.
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 860 })
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await isTooWide(page)).toBe(false)
  }
  await page.setViewportSize({ width: 320, height: 860 })
  expect(await isTooWide(page)).toBe(false)
  if (size) await page.setViewportSize(size)
}

const isTooWide = async (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth')
