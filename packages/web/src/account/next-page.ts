/** Where to go after signing in: always a path of this registry, whatever the parameter is. */
export function nextPage(given: unknown): string {
  const isPath = typeof given === 'string' && /^\/(?![/\\])/.test(given)
  return isPath ? given : '/'
}

export type NextSearch = { next?: string }

export const readNextSearch = (given: Record<string, unknown>): NextSearch => {
  const next = nextPage(given.next)
  return next === '/' ? {} : { next }
}

/** Returns the link to the sign-in page, which leads back to the current page. */
export const signInAddress = (): string =>
  `/login?${new URLSearchParams({ next: location.pathname + location.search })}`
