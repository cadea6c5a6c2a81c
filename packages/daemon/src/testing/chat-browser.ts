/** Daemons and a browser for tests of the chat page. */
import { findChatSite } from '@shoal/web'
import { expect, inject } from 'vitest'
import { accessibilityProblems, type Page, startBrowser } from '../../../../testing/browser.ts'
import { startTestDaemon } from './test-daemon.ts'

const chromium = inject('chromium')

/** Whether a browser is available and the pages have been built. */
export const canBrowse = Boolean(chromium && findChatSite())

/**
 * Returns functions that start daemons, and a browser that may load only the daemons' pages. All of them are stopped
 * when `stack` is disposed of.
 */
export function chatBrowser() {
  const stack = new AsyncDisposableStack()
  const origins: string[] = []
  return {
    stack,
    async startDaemon(...args: Parameters<typeof startTestDaemon>) {
      const daemon = await startTestDaemon(...args)
      stack.defer(daemon.close)
      origins.push(`http://localhost:${daemon.port}`, `http://127.0.0.1:${daemon.port}`)
      return daemon
    },
    startBrowser: async () => stack.use(await startBrowser(chromium ?? '', origins)),
  }
}

/** Checks that the page is accessible and not wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await accessibilityProblems(page)).toEqual([])
  const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
  expect(await page.evaluate(isTooWide)).toBe(false)
}
