import { createHash } from 'node:crypto'
import type { RateLimits } from '../config.ts'
import { busy } from '../errors.ts'
import { windowCounts } from '../http/window-counts.ts'
import type { Caller } from './caller.ts'

/** Limits what bad credentials from one network can cost. Its state is per process. */
export interface CredentialGuard {
  /**
   * Returns the owner of a credential, or undefined for a bad one. `lookUp` queries the database; it is not called for
   * a credential that was bad a moment ago.
   * @throws busy (429) if the credential may not be looked up now
   */
  find(
    token: string,
    network: string,
    lookUp: () => Promise<Caller | undefined>,
  ): Promise<Caller | undefined>
  /** Adds a new token to the good credentials, before it is ever looked up. */
  noteGood(token: string): void
}

/**
 * Maximum number of remembered good credentials, and of remembered bad ones, of about 100 bytes each. The least
 * recently used is forgotten first.
 *
 */
const maxCredentials = 10_000
const maxNetworks = 20_000
/** A bad credential is not looked up again for this long. An unknown or expired token never becomes valid. */
const badForMs = 60_000
/** Concurrent lookups of credentials not seen before, per network: many start at once when a registry restarts. */
const maxLookupsUnderWay = 100

/**
 * Protects the database from token guessing. A network that has sent as many bad credentials as the rate limit `auth`
 * allows gets 429 for any credential not seen before, without a lookup, until the window ends. Other users behind the
 * same address are not affected: a credential that was good here is always looked up (so that a revocation takes effect
 * at once), and requests without a credential are not limited. The same bad credential counts once, however often a
 * forgotten script sends it. Without `limit`, every credential is looked up.
 */
export function credentialGuard(limit: RateLimits['auth'] | undefined): CredentialGuard {
  const good = new Map<string, true>()
  /** The end of the window, by a monotonic clock. */
  const bad = new Map<string, number>()
  const failures = windowCounts(maxNetworks)
  const underWay = new Map<string, number>()

  async function lookUpNew(
    network: string,
    windowMs: number,
    lookUp: () => Promise<Caller | undefined>,
  ): Promise<Caller | undefined> {
    const lookups = underWay.get(network) ?? 0
    if (lookups >= maxLookupsUnderWay) throw refusal(1)
    underWay.set(network, lookups + 1)
    try {
      const caller = await lookUp()
      if (!caller) failures.add(network, windowMs)
      return caller
    } finally {
      const left = (underWay.get(network) ?? 0) - 1
      if (left > 0) underWay.set(network, left)
      else underWay.delete(network)
    }
  }

  return {
    async find(
      token: string,
      network: string,
      lookUp: () => Promise<Caller | undefined>,
    ): Promise<Caller | undefined> {
      if (!limit) return lookUp()
      const digest = digestToken(token)
      if ((bad.get(digest) ?? 0) > performance.now()) return undefined
      const windowMs = limit.windowSeconds * 1000
      const { count, msLeft } = failures.read(network, windowMs)
      const isKnown = good.has(digest)
      if (!isKnown && count >= limit.max) throw refusal(Math.max(1, Math.ceil(msLeft / 1000)))

      const caller = isKnown ? await lookUp() : await lookUpNew(network, windowMs, lookUp)
      if (caller) {
        remember(good, digest, true)
      } else {
        good.delete(digest)
        remember(bad, digest, performance.now() + badForMs)
      }
      return caller
    },

    noteGood(token: string) {
      if (limit) remember(good, digestToken(token), true)
    },
  }
}

const digestToken = (token: string) => createHash('sha256').update(token).digest('base64')

function remember<T>(credentials: Map<string, T>, digest: string, value: T) {
  credentials.delete(digest)
  credentials.set(digest, value)
  if (credentials.size > maxCredentials) credentials.delete(credentials.keys().next().value ?? '')
}

function refusal(seconds: number) {
  return busy(`too many unknown tokens came from your network: try again in ${seconds} s`, {
    code: 'rate_limited',
    retryAfterSeconds: seconds,
  })
}
