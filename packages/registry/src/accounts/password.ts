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

/**
 * Throws unless `password` has 8 to 1024 bytes and is not one of the first that an attacker would try (NIST SP 800-63B,
 * section 3.1.1.2): the username, a repeated character, or one of the most common passwords.
 */
export async function checkNewPassword(password: string, username: string, path: string) {
  const message = await findWeakness(password, username)
  if (message) throw unprocessable(`the password ${message}`, { errors: [{ path, message }] })
}

async function findWeakness(password: string, username: string): Promise<string | undefined> {
  const size = Buffer.byteLength(password)
  if (size < 8 || size > 1024) return 'must have 8 to 1024 bytes'
  const lowercase = password.toLowerCase()
  if (lowercase === username) return 'must not be the username'
  if (/^(.)\1*$/su.test(password)) return 'must not be one character repeated'
  if ((await commonPasswords()).has(lowercase)) {
    return 'must not be one of the 10,000 most common passwords'
  }
  return undefined
}

let reading: Promise<ReadonlySet<string>> | undefined

/** Returns the most common passwords, in lowercase. Read when first needed, because the list takes 60 ms and 20 MB. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  reading ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].slice(0, 10_000)),
  )
  return reading
}
