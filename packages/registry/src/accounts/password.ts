import { hash, verify } from '@node-rs/argon2'
import { busy, unprocessable } from '../errors.ts'

/** Argon2id needs 19 MiB and about 50 ms of a core per hash: at most this many at once, with bounded queues. */
const maxRunning = 2
const maxWaiting = 100

/**
 * `first` is for an account's own networks and sessions, so that guesses from elsewhere cannot fill the queue ahead of
 * them.
 */
type Lane = 'first' | 'later'

let running = 0
const waiting: Record<Lane, (() => void)[]> = { first: [], later: [] }

/** Hashes with Argon2id at the parameters that OWASP recommends (19 MiB, 2 passes), in PHC form. */
export function hashPassword(password: string, lane: Lane = 'later'): Promise<string> {
  return inTurn(lane, () => hash(password))
}

/**
 * Whether `password` matches `passwordHash`. Without a hash (no such account, or one that cannot sign in) it takes the
 * same time and returns false.
 */
export async function isPassword(
  password: string,
  passwordHash: string | null,
  lane: Lane,
): Promise<boolean> {
  const isRight = await inTurn(lane, () => verify(passwordHash ?? nobodysHash, password))
  return isRight && passwordHash !== null
}

/** A hash of random bytes that were not kept, with the same parameters. */
const nobodysHash =
  '$argon2id$v=19$m=19456,t=2,p=1$c2hvYWxub2JvZHlzYWx0$SJKZbkfDl4kM2YEKQZJDmQm0Y7fYw0mYpTq1zqVQGXs'

async function inTurn<T>(lane: Lane, work: () => Promise<T>): Promise<T> {
  if (running >= maxRunning) {
    const queue = waiting[lane]
    if (queue.length >= maxWaiting) {
      throw busy('too many people are signing in at once', { retryAfterSeconds: 2 })
    }
    await new Promise<void>((resolve) => queue.push(resolve))
  } else {
    running += 1
  }
  try {
    return await work()
  } finally {
    const next = waiting.first.shift() ?? waiting.later.shift()
    if (next) next()
    else running -= 1
  }
}

/** Throws unless `password` has 8 to 1024 bytes and is not the username. */
export function checkNewPassword(password: string, username: string, path: string): void {
  const size = Buffer.byteLength(password)
  const message =
    size < 8 || size > 1024
      ? 'must have 8 to 1024 bytes'
      : password.toLowerCase() === username
        ? 'must not be the username'
        : undefined
  if (message) throw unprocessable(`the password ${message}`, { errors: [{ path, message }] })
}
