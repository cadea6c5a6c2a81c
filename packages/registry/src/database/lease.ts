import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { databaseTime } from './clock.ts'
import type { Database } from './schema.ts'

/** Long enough to survive two failed renewals. If a node dies, another node can take over its work after this time. */
const leaseSeconds = 15
const renewIntervalMs = 5_000

/**
 * Runs `work`, unless another node is running it or a node finished it less than `restSeconds` ago. Returns whether
 * this node ran it. If another node takes over, aborts the signal that was passed to `work`. The lease is a row in the
 * database, because a session lock would not work behind a connection pooler. The database's clock determines when the
 * lease expires.
 */
export async function withLease(
  db: Kysely<Database>,
  name: string,
  restSeconds: number,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const holder = randomUUID()
  const lost = new AbortController()
  if (!(await take(db, name, holder, leaseSeconds))) return false
  let renewal = Promise.resolve()
  const timer = setInterval(() => {
    renewal = renewal
      .then(() => take(db, name, holder, leaseSeconds))
      .then(
        (isOurs) => {
          if (!isOurs) lost.abort(new Error(`another node has taken over the lease ${name}`))
        },
        () => undefined, // the next renewal may succeed; otherwise, the lease expires
      )
  }, renewIntervalMs)
  let secondsLeft = 0
  try {
    await work(lost.signal)
    secondsLeft = restSeconds
  } finally {
    clearInterval(timer)
    await renewal // a renewal after the next line would overwrite the rest period
    await take(db, name, holder, secondsLeft)
  }
  return true
}

/** Takes or renews a lease. Returns false if another node holds it. */
async function take(db: Kysely<Database>, name: string, holder: string, seconds: number) {
  const until = databaseTime(db, seconds)
  const taken = await db
    .insertInto('lease')
    .values({ name, holder, until })
    .onConflict((held) =>
      held
        .column('name')
        .doUpdateSet({ holder, until })
        .where((is) =>
          is.or([is('lease.holder', '=', holder), is('lease.until', '<=', databaseTime(db))]),
        ),
    )
    .returning('holder')
    .executeTakeFirst()
  return taken?.holder === holder
}
