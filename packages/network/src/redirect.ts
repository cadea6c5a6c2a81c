/** Which redirects are followed. */
import { NetworkError, type NetworkFailure } from '@shoal/protocol/client'

type Reason = (NetworkFailure & { code: 'redirect_refused' })['reason']

export const maxRedirects = 5

export function redirectRefused(from: URL, reason: Reason, detail: string): NetworkError {
  return new NetworkError({ code: 'redirect_refused', reason, host: from.host, detail })
}

/**
 * Where a call of the API goes on: at the same host and port, or from http to https at the same host, then without credentials,
 * for that is another origin. Throws where it must not.
 */
export function apiRedirect(
  from: URL,
  location: string,
  { hasCredentials }: { hasCredentials: boolean },
): URL {
  const to = redirectTarget(from, location)
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:'
  if (to.hostname !== from.hostname || (to.host !== from.host && !isUpgrade)) {
    throw redirectRefused(from, 'other_host', `it redirects to ${to.origin}`)
  }
  if (isUpgrade && hasCredentials) {
    throw redirectRefused(from, 'moved', `it redirects to ${to.origin}`)
  }
  return to
}

/** Where a request for bytes goes on, which carries no credentials: anywhere, but never from https to http. */
export function redirectTarget(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined
  if (!to || !['http:', 'https:'].includes(to.protocol)) {
    throw redirectRefused(from, 'other_host', `it redirects to “${location}”`)
  }
  if (from.protocol === 'https:' && to.protocol === 'http:') {
    throw redirectRefused(from, 'insecure', `it redirects to ${to.origin}`)
  }
  return to
}
