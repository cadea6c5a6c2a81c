import { createHash } from 'node:crypto'
import type { Clock } from '@shoal/core/async'
import { windowCounts } from '@shoal/core/limits'
import type { RateLimits } from '../config.ts'
import { busy } from '../errors.ts'
import type { Caller } from './caller.ts'

/** Limits the database load that invalid credentials from one network can cause. Each process has its own state. */
export interface CredentialGuard {
  /**
   * Returns the owner of a credential, or undefined if the credential is invalid. `lookUp` queries the database; it is
   * not called for a credential that was found to be invalid within the last minute.
   * @throws busy (429) if the credential cannot be looked up now because of a limit
   */
  find(
    token: string,
    network: string,
    lookUp: () => Promise<Caller | undefined>,
  ): Promise<Caller | undefined>
  /** Records that a new token is valid, so that its first lookup does not count toward the limits. */
  noteGood(token: string): void
}

/**
 * The registry remembers at most this many valid credentials, and at most this many invalid ones. Each credential takes
 * about 100 bytes. The least recently used one is forgotten first.
 */
const maxCredentials = 10_000
const maxNetworks = 20_000
/** How long to wait before looking up an invalid credential again. An unknown or expired token never becomes valid. */
const badForMs = 60_000
/**
 * Maximum number of concurrent lookups, per network, of credentials not seen before. After a restart, the registry has
 * not yet seen any credentials, so many lookups start at the same time.
 */
const maxLookupsUnderWay = 100

/**
 * Protects the database from token guessing. After a network has sent as many invalid credentials as the rate limit
 * `auth` allows, it gets 429 for every credential not seen before, without a lookup, until the window ends. Other users
 * behind the same address are not affected: credentials known to be valid are still looked up (so that a revocation
 * takes effect immediately), and requests without a credential are not limited. If a forgotten script keeps sending the
 * same invalid credential, that credential counts at most once a minute. Without `limit`, every credential is looked
 * up.
 */
export function credentialGuard(
  limit: RateLimits['auth'] | undefined,
  clock: Clock,
): CredentialGuard {
  const good = new Map<string, true>()
  /** For each invalid credential, the time before which the credential is not looked up again. */
  const bad = new Map<string, number>()
  const failures = windowCounts(maxNetworks, clock)
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
      if ((bad.get(digest) ?? 0) > clock.now()) return undefined
      const windowMs = limit.windowSeconds * 1000
      const { count, msLeft } = failures.read(network, windowMs)
      const isKnown = good.has(digest)
      if (!isKnown && count >= limit.max) throw refusal(Math.max(1, Math.ceil(msLeft / 1000)))

      const caller = isKnown ? await lookUp() : await lookUpNew(network, windowMs, lookUp)
      if (caller) {
        remember(good, digest, true)
      } else {
        good.delete(digest)
        remember(bad, digest, clock.now() + badForMs)
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
  return busy(`your network has sent too many unknown tokens: try again in ${seconds} s`, {
    code: 'rate_limited',
    retryAfterSeconds: seconds,
  })
}
