import {
  type Kysely,
  sql,
  type UpdateObject,
  type UpdateQueryBuilder,
  type UpdateResult,
} from 'kysely'
import { databaseTime } from '../../database/clock.ts'
import type { Database } from '../../database/schema.ts'
import { type FileRow, fileColumns, isUnfinished } from '../rows/file-row.ts'
import { moveFiles, uploadLifetimeSeconds } from '../rows/file-states.ts'

/**
 * A row in status `processing` is the job. Any node claims it under a lease, which runs by the database's clock; a dead node's
 * lease runs out, and another goes on. What a job ends with counts only if its node still holds the lease: each of those steps
 * returns whether it did.
 */
export interface ProcessingQueue {
  /** Frees the jobs of processes before this one, where no other can be running (SQLite). */
  freeAll(): Promise<void>
  /** Takes the oldest job that nobody has, or undefined. Its attempts are those that ended with their node, and this one. */
  claim(holder: string): Promise<FileRow | undefined>
  /** Keeps the job. False when somebody else has it, or it is gone. */
  renew(fileId: string, holder: string): Promise<boolean>
  /** Puts the job back: it is nobody's fault that it was not done. */
  putBack(fileId: string, holder: string): Promise<boolean>
  /** Leaves the job alone for a while: something that it needs is broken, which is not the job's fault either. */
  retryLater(fileId: string, holder: string, seconds: number): Promise<boolean>
  /** The job ends without a ready file: it failed, and its bytes are to be deleted, or some chunks have to be sent again. */
  end(
    fileId: string,
    holder: string,
    result: { status: 'failed' | 'uploading'; detail: string },
  ): Promise<boolean>
  /** The bytes are gone: all of them are to come again, to another object. The job goes on until `end` offers that. */
  forgetBytes(fileId: string, holder: string, objectKey: string): Promise<boolean>
}

/** Long enough for two renewals to fail, short enough that nobody waits long for a dead node's file. */
const leaseSeconds = 15
/** A holder renews its lease this often. */
export const renewIntervalMs = 5_000

export function processingQueue(
  db: Kysely<Database>,
  engine: 'sqlite' | 'postgres',
): ProcessingQueue {
  /** Changes the job, which goes on, if the holder still has it. */
  function change(fileId: string, holder: string, values: UpdateObject<Database, 'file'>) {
    const jobs = db.updateTable('file').set(values).where('status', '=', 'processing')
    return ifHeld(jobs, fileId, holder)
  }

  async function ifHeld(
    update: UpdateQueryBuilder<Database, 'file', 'file', UpdateResult>,
    fileId: string,
    holder: string,
  ): Promise<boolean> {
    const { numUpdatedRows } = await update
      .where('id', '=', fileId)
      .where('lease_holder', '=', holder)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  return {
    async freeAll() {
      if (engine === 'postgres') return
      await db
        .updateTable('file')
        .set({ lease_holder: null, lease_until: null })
        .where(isUnfinished)
        .where('status', '=', 'processing')
        .execute()
    },

    claim: (holder: string): Promise<FileRow | undefined> =>
      db
        .updateTable('file')
        .set({
          lease_holder: holder,
          lease_until: databaseTime(db, leaseSeconds),
          attempts: sql`attempts + 1`,
        })
        .where('id', '=', (row) =>
          row
            .selectFrom('file')
            .select('id')
            .where(isUnfinished)
            .where('status', '=', 'processing')
            .where((is) =>
              is.or([is('lease_until', 'is', null), is('lease_until', '<', databaseTime(db))]),
            )
            .orderBy('id')
            .limit(1)
            .$if(engine === 'postgres', (jobs) => jobs.forUpdate().skipLocked()),
        )
        .returning(fileColumns)
        .executeTakeFirst(),

    renew: (fileId: string, holder: string): Promise<boolean> =>
      change(fileId, holder, { lease_until: databaseTime(db, leaseSeconds) }),

    putBack: (fileId: string, holder: string): Promise<boolean> =>
      change(fileId, holder, { ...noLease, attempts: sql`attempts - 1` }),

    retryLater: (fileId: string, holder: string, seconds: number): Promise<boolean> =>
      change(fileId, holder, {
        status_detail: 'processing failed because of a problem on the server; it will be retried',
        lease_holder: null,
        lease_until: databaseTime(db, seconds),
        attempts: sql`attempts - 1`,
      }),

    end: (
      fileId: string,
      holder: string,
      { status, detail }: { status: 'failed' | 'uploading'; detail: string },
    ): Promise<boolean> =>
      ifHeld(
        moveFiles(db, status === 'failed' ? 'fail' : 'reopen', { status_detail: detail }),
        fileId,
        holder,
      ),

    forgetBytes: (fileId: string, holder: string, objectKey: string): Promise<boolean> =>
      change(fileId, holder, {
        object_key: objectKey,
        blob_hash: null,
        upload_expires_at: databaseTime(db, uploadLifetimeSeconds),
      }),
  }
}

const noLease = { lease_holder: null, lease_until: null }
