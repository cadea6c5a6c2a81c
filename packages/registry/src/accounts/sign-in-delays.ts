import { busy } from '../errors.ts'

export interface SignInDelays {
  /**
   * Begins an attempt, which counts as failed until it is taken back, so that concurrent attempts count too. `network`
   * is undefined for one that the account has used: it is never delayed.
   * @throws busy (429) with the seconds to wait
   */
  begin(username: string, network: string | undefined): { takeBack(): void }
}

/** Failed attempts per username before anyone has to wait, because people mistype. */
const freeFailures = 3
const maxDelaySeconds = 30
/**
 * At most this many failures are counted, and one is forgotten each minute, so delays end a few minutes after the last
 * guess.
 *
 */
const forgetFailureMs = 60_000
const maxFailures = 20
/**
 * Maximum number of usernames, existing or not, whose failures are counted. The least recently tried is forgotten
 * first.
 */
const maxUsernames = 10_000
/** How long after its start a wait is forgotten. Later attempts have to wait again. */
const waitLifetimeMs = 120_000
/** Maximum number of networks that wait for one username, and in total. Attempts from other networks are refused. */
const maxWaitsPerUsername = 100
const maxWaits = 10_000

/**
 * Slows down guessing of one account's password from many networks. Each failure counts against its username. After a
 * few, a network from which the account has not signed in has to wait before each attempt, 1 s at first and up to 30 s:
 * its first try is answered with 429 and `Retry-After`, and one after that time is let through. No connection, hash or
 * transaction is held meanwhile. Each network waits separately, so that guessers cannot lock out the account's owner; a
 * username without an account is treated the same. Networks that the account has used are never passed in here, and
 * neither are sessions and keys.
 */
export function signInDelays(now: () => number = () => performance.now()): SignInDelays {
  const failures = new Map<string, { count: number; at: number }>()
  /** In the order in which the waits began, which is also the order in which they end. */
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

  /** Seconds until this network may try; 0 lets it try once, now. */
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
