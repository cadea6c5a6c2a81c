import { hash, verify } from '@node-rs/argon2'
import type { PasswordCost } from '../config.ts'
import { busy, unprocessable } from '../errors.ts'

/**
 * Maximum number of concurrent hash computations. At the recommended cost, each needs 19 MiB of memory and about 50 ms
 * of processor time. Further computations wait in bounded queues.
 */
const maxRunning = 2
const maxWaiting = 100

/**
 * The queue in which a hash computation waits. `first`, which is served before `later`, is for password changes and for
 * sign-ins from an account's own networks, so that password guesses from other networks cannot delay them.
 */
type Lane = 'first' | 'later'

/** Hashes passwords. Both methods throw busy if too many computations are waiting. */
export interface Passwords {
  /** Hashes a password with Argon2id. The result is a PHC string. */
  hash(password: string, lane?: Lane): Promise<string>
  /**
   * Whether `password` matches `passwordHash`. If there is no hash, because the account does not exist or cannot sign
   * in, the check takes the same time and returns false.
   */
  matches(password: string, passwordHash: string | null, lane: Lane): Promise<boolean>
}

export function openPasswords({ memoryKib, passes }: PasswordCost): Passwords {
  const nobodysHash = `$argon2id$v=19$m=${memoryKib},t=${passes},p=1${nobodysSaltAndHash}`
  return {
    hash: (password, lane = 'later') =>
      inTurn(lane, () => hash(password, { memoryCost: memoryKib, timeCost: passes })),

    async matches(password, passwordHash, lane) {
      const isRight = await inTurn(lane, () => verify(passwordHash ?? nobodysHash, password))
      return isRight && passwordHash !== null
    },
  }
}

/** The end of a PHC string that was made of random bytes. No password is known to match it. */
const nobodysSaltAndHash = '$c2hvYWxub2JvZHlzYWx0$SJKZbkfDl4kM2YEKQZJDmQm0Y7fYw0mYpTq1zqVQGXs'

let running = 0
const waiting: Record<Lane, (() => void)[]> = { first: [], later: [] }

async function inTurn<T>(lane: Lane, work: () => Promise<T>): Promise<T> {
  if (running >= maxRunning) {
    const queue = waiting[lane]
    if (queue.length >= maxWaiting) {
      throw busy('too many people are signing in at the same time: try again in 2 s', {
        retryAfterSeconds: 2,
      })
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

/** Throws unless `password` has 8 to 1024 bytes and differs from the username. */
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
