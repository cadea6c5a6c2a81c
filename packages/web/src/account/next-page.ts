/** Where to go after signing in: a path of this registry, whatever the address says. */
export function nextPage(given: unknown): string {
  const isPath = typeof given === 'string' && /^\/(?![/\\])/.test(given)
  return isPath ? given : '/'
}

export type NextSearch = { next?: string }

export const readNextSearch = (given: Record<string, unknown>): NextSearch => {
  const next = nextPage(given.next)
  return next === '/' ? {} : { next }
}

/** The sign-in page, from which one comes back to where one is. */
export const signInAddress = (): string =>
  `/login?${new URLSearchParams({ next: location.pathname + location.search })}`
