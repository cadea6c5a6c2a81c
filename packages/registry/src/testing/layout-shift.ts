import type { Page } from '../../../../testing/browser.ts'

/**
 * Measures how much the layout of the pages that are opened from now on shifts. Returns a function that returns the sum
 * of the current page's shifts, as the Layout Instability API defines them.
 */
export async function watchLayoutShift(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(`
    window.shifts = []
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) shifts.push(value)
    }).observe({ type: 'layout-shift', buffered: true })`)
  return () => page.evaluate('shifts.reduce((sum, one) => sum + one, 0)')
}
