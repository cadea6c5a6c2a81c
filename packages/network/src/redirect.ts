/** Decides which redirects are followed. */
import { NetworkError, type NetworkFailure } from '@shoal/protocol/client'
import type { Network } from './dispatcher.ts'
import type { Asked } from './to-network-failure.ts'

type Reason = (NetworkFailure & { code: 'redirect_refused' })['reason']

export type Redirect = { status: number; location: string }

/** The outcome of one request: its result, or a redirect. */
export type Step<T> = { result: T } | { redirect: Redirect }

type NextUrl = (from: URL, redirect: Redirect) => URL

const maxRedirects = 5

/**
 * Follows redirects: calls `ask` with one URL after another until it returns a result. `nextUrl` returns the target of
 * a redirect, or throws if the redirect must not be followed; the default is suitable only for requests without
 * credentials. Rejects with a `NetworkError` if there are too many redirects.
 */
export async function followRedirects<T>(
  network: Network,
  start: URL,
  ask: (asked: Asked) => Promise<Step<T>>,
  nextUrl: NextUrl = redirectTarget,
): Promise<T> {
  let url = start
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const step = await ask({ url, proxy: network.findProxy(url) })
    if ('result' in step) return step.result
    url = nextUrl(url, step.redirect)
  }
  throw redirectRefused(url, 'loop', `more than ${maxRedirects} redirects`)
}

export function redirectRefused(from: URL, reason: Reason, detail: string): NetworkError {
  return new NetworkError({ code: 'redirect_refused', reason, host: from.host, detail })
}

/**
 * Returns the target of an API redirect, which must have the same host and port, or change from http to https on the
 * same host. If the request contains credentials, the change to https is also refused, because it changes the origin.
 * Throws a `NetworkError` if the redirect must not be followed.
 */
export function apiRedirect(
  from: URL,
  redirect: Redirect,
  { hasCredentials }: { hasCredentials: boolean },
): URL {
  const to = redirectTarget(from, redirect)
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:'
  if (to.hostname !== from.hostname || (to.host !== from.host && !isUpgrade)) {
    throw redirectRefused(from, 'other_host', `redirect to ${to.origin}`)
  }
  if (isUpgrade && hasCredentials) {
    throw redirectRefused(from, 'moved', `redirect to ${to.origin}`)
  }
  return to
}

/**
 * Returns the target of a redirect for a request without credentials. The target may be on any host, but a redirect
 * from https to http is refused.
 */
function redirectTarget(from: URL, { location }: Redirect): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined
  if (!to || !['http:', 'https:'].includes(to.protocol)) {
    throw redirectRefused(from, 'other_host', `redirect to “${location}”`)
  }
  if (from.protocol === 'https:' && to.protocol === 'http:') {
    throw redirectRefused(from, 'insecure', `redirect to ${to.origin}`)
  }
  return to
}
