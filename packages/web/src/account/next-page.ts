/**
 * Returns the path of the page to open after signing in: `given` if it is a path, otherwise `/`. A URL of another site
 * is never returned.
 */
export function nextPage(given: unknown): string {
  const isPath = typeof given === 'string' && /^\/(?![/\\])/.test(given)
  return isPath ? given : '/'
}

export type NextSearch = { next?: string }

export const readNextSearch = (given: Record<string, unknown>): NextSearch => {
  const next = nextPage(given.next)
  return next === '/' ? {} : { next }
}

/** Returns the URL of the sign-in page, with the current page as the one to open after signing in. */
export const signInAddress = (): string =>
  `/login?${new URLSearchParams({ next: location.pathname + location.search })}`
