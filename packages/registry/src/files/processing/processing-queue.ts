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
 * A row in status `processing` is a job. Any node can claim it with a lease, which expires by the database's clock; if
 * a node dies, its lease expires and another node takes over. A result counts only while its node holds the lease: each
 * of these steps returns whether it does.
 */
export interface ProcessingQueue {
  /** Frees the jobs of earlier processes. Only with SQLite, where no other process can be running. */
  freeAll(): Promise<void>
  /**
   * Claims the oldest free job, if any. Its attempts are the earlier ones that ended with their node, plus this one.
   */
  claim(holder: string): Promise<FileRow | undefined>
  /** Renews the lease. False if another node has it, or if the job no longer exists. */
  renew(fileId: string, holder: string): Promise<boolean>
  /** Puts the job back without counting the attempt. */
  putBack(fileId: string, holder: string): Promise<boolean>
  /** Postpones the job without counting the attempt: something that it needs is unavailable. */
  retryLater(fileId: string, holder: string, seconds: number): Promise<boolean>
  /**
   * Ends a job without a ready file: either it failed and its bytes must be deleted, or some chunks must be sent again.
   */
  end(
    fileId: string,
    holder: string,
    result: { status: 'failed' | 'uploading'; detail: string },
  ): Promise<boolean>
  /**
   * Forgets lost bytes: all chunks must be sent again, to another object. The job continues until `end` reopens the
   * upload.
   */
  forgetBytes(fileId: string, holder: string, objectKey: string): Promise<boolean>
}

/**
 * Duration of a lease: long enough for two failed renewals, and short enough that the files of a dead node do not wait
 * long.
 */
const leaseSeconds = 15
/** How often the holder renews its lease. */
export const renewIntervalMs = 5_000

export function processingQueue(
  db: Kysely<Database>,
  engine: 'sqlite' | 'postgres',
): ProcessingQueue {
  /** Changes a running job if the holder still has its lease. */
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
