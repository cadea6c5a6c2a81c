import type { Clock } from '@shoal/core/async'
import { busy } from '../errors.ts'

export interface SignInDelays {
  /**
   * Begins a sign-in attempt. The attempt counts as failed until `takeBack` is called, so that concurrent attempts
   * count too. Pass undefined as `network` for a network that the account has used before, or for an attempt within a
   * session. Such attempts are never delayed.
   * @throws busy (429) with the number of seconds to wait
   */
  begin(username: string, network: string | undefined): { takeBack(): void }
}

/** Number of failed attempts per username that cause no delay, because users mistype their passwords. */
const freeFailures = 3
const maxDelaySeconds = 30
/**
 * At most 20 failures are counted per username, and one is forgotten each minute, so delays end at most 17 minutes
 * after the last failure.
 */
const forgetFailureMs = 60_000
const maxFailures = 20
/**
 * Maximum number of usernames, existing or not, whose failures are counted. The username tried least recently is
 * forgotten first.
 */
const maxUsernames = 10_000
/** How long a wait is remembered after it began. A network that tries again after that has to wait again. */
const waitLifetimeMs = 120_000
/** Maximum number of waiting networks, per username and in total. Attempts from further networks are refused. */
const maxWaitsPerUsername = 100
const maxWaits = 10_000

/**
 * Slows down attackers who guess one account's password from many networks. Failed attempts are counted per username.
 * After a few failures, a network from which the account has not signed in has to wait before each attempt, at first
 * for 1 s and later for up to 30 s. Its first request gets 429 with `Retry-After`, and its first request after the wait
 * is processed. During the wait, the server keeps no connection or transaction open and computes no hash. Each network
 * waits separately, so that attackers cannot lock out the account's owner. Usernames without an account are treated the
 * same way. Sessions, API keys, and networks that the account has used are never delayed.
 */
export function signInDelays({ now }: Clock): SignInDelays {
  const failures = new Map<string, { count: number; at: number }>()
  /** The current waits, in the order in which they began. They are forgotten in the same order. */
  const waits = new Map<string, { username: string; readyAt: number; endsAt: number }>()
  const waitCounts = new Map<string, number>()

  function countFailures(username: string): number {
    const found = failures.get(username)
    return found ? Math.max(0, found.count - (now() - found.at) / forgetFailureMs) : 0
  }

  function setFailures(username: string, count: number) {
    failures.delete(username)
    if (count > 0) failures.set(username, { count: Math.min(count, maxFailures), at: now() })
    if (failures.size > maxUsernames) failures.delete(failures.keys().next().value ?? '')
  }

  function endWait(place: string, username: string) {
    waits.delete(place)
    const left = (waitCounts.get(username) ?? 0) - 1
    if (left > 0) waitCounts.set(username, left)
    else waitCounts.delete(username)
  }

  function endOldWaits() {
    for (const [place, { username, endsAt }] of waits) {
      if (endsAt > now()) return
      endWait(place, username)
    }
  }

  /**
   * Returns the number of seconds until this network may try to sign in. If the result is 0, the network may make one
   * attempt immediately.
   */
  function secondsToWait(username: string, network: string): number {
    endOldWaits()
    const seconds = delaySeconds(countFailures(username))
    if (seconds === 0) return 0
    const place = `${username}\n${network}`
    const wait = waits.get(place)
    if (wait && wait.readyAt <= now()) {
      endWait(place, username)
      return 0
    }
    if (wait) return Math.ceil((wait.readyAt - now()) / 1000)
    const ofUsername = waitCounts.get(username) ?? 0
    if (ofUsername >= maxWaitsPerUsername || waits.size >= maxWaits) return maxDelaySeconds
    const began = now()
    const [readyAt, endsAt] = [began + seconds * 1000, began + waitLifetimeMs]
    waits.set(place, { username, readyAt, endsAt })
    waitCounts.set(username, ofUsername + 1)
    return seconds
  }

  return {
    begin(username: string, network: string | undefined): { takeBack(): void } {
      const seconds = network === undefined ? 0 : secondsToWait(username, network)
      if (seconds > 0) {
        throw busy(`many sign-ins with this username have failed: try again in ${seconds} s`, {
          code: 'rate_limited',
          retryAfterSeconds: seconds,
        })
      }
      setFailures(username, countFailures(username) + 1)
      return { takeBack: () => setFailures(username, countFailures(username) - 1) }
    },
  }
}

function delaySeconds(failures: number): number {
  const counted = Math.ceil(failures) - freeFailures
  return counted <= 0 ? 0 : Math.min(maxDelaySeconds, 2 ** (counted - 1))
}
