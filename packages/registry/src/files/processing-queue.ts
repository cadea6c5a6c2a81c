import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Database } from '../database/schema.ts'
import { type FileRow, fileColumns } from './file-repository.ts'

export type ProcessingQueue = ReturnType<typeof processingQueue>

const leaseMs = 60_000
/** Lets SQLite use the index of what is not ready; it does not conclude that from the status itself. */
const isUnfinished = sql<SqlBool>`status <> 'ready'`

/**
 * A row in status `processing` is the job. Any node claims it under a lease; a dead node's lease runs out, and another goes on.
 */
export function processingQueue(db: Kysely<Database>, engine: 'sqlite' | 'postgres') {
  const leaseUntil = () => new Date(Date.now() + leaseMs).toISOString()

  return {
    /** Frees the jobs of processes before this one, where no other can be running (SQLite). */
    async freeAll() {
      if (engine === 'postgres') return
      await db
        .updateTable('file')
        .set({ lease_holder: null, lease_until: null })
        .where(isUnfinished)
        .where('status', '=', 'processing')
        .execute()
    },

    /** Takes the oldest job that nobody has, or undefined. Its attempts are those that ended with their node, and this one. */
    claim: (holder: string): Promise<FileRow | undefined> =>
      db
        .updateTable('file')
        .set({ lease_holder: holder, lease_until: leaseUntil(), attempts: sql`attempts + 1` })
        .where('id', '=', (row) =>
          row
            .selectFrom('file')
            .select('id')
            .where(isUnfinished)
            .where('status', '=', 'processing')
            .where((is) =>
              is.or([
                is('lease_until', 'is', null),
                is('lease_until', '<', new Date().toISOString()),
              ]),
            )
            .orderBy('id')
            .limit(1)
            .$if(engine === 'postgres', (jobs) => jobs.forUpdate().skipLocked()),
        )
        .returning(fileColumns)
        .executeTakeFirst(),

    /** Keeps the job. False when somebody else has it, or it is gone. */
    async renew(fileId: string, holder: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('file')
        .set({ lease_until: leaseUntil() })
        .where('id', '=', fileId)
        .where('lease_holder', '=', holder)
        .where('status', '=', 'processing')
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** Puts the job back: it is nobody's fault that it was not done. */
    putBack: (fileId: string, holder: string) =>
      db
        .updateTable('file')
        .set({ lease_holder: null, lease_until: null, attempts: sql`attempts - 1` })
        .where('id', '=', fileId)
        .where('lease_holder', '=', holder)
        .execute(),

    /** Leaves the job alone for a while: something that it needs is broken, which is not the job's fault either. */
    retryLater: (fileId: string, holder: string, seconds: number) =>
      db
        .updateTable('file')
        .set({
          status_detail: 'something that the registry needs is broken: it will try again',
          lease_holder: null,
          lease_until: new Date(Date.now() + seconds * 1000).toISOString(),
          attempts: sql`attempts - 1`,
        })
        .where('id', '=', fileId)
        .where('lease_holder', '=', holder)
        .execute(),

    /** The job ends without a ready file: it failed, or some chunks have to be sent again. */
    end: (
      fileId: string,
      holder: string,
      { status, detail }: { status: 'failed' | 'uploading'; detail: string },
    ) =>
      db
        .updateTable('file')
        .set({
          status,
          status_detail: detail,
          lease_holder: null,
          lease_until: null,
          ...(status === 'failed' && { object_key: null, blob_hash: null }),
        })
        .where('id', '=', fileId)
        .where('lease_holder', '=', holder)
        .execute(),
  }
}
