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
 * A file's row in status `processing` is a job. Any node can claim a job, and then holds a lease that expires by the
 * database's clock. If a node dies, its lease expires, and another node can claim the job. A node can change a job only
 * while it holds the lease: the methods that change a claimed job return whether `holder` still held the lease.
 */
export interface ProcessingQueue {
  /**
   * Frees the jobs that earlier processes claimed. Does nothing on PostgreSQL, where other processes may be running.
   */
  freeAll(): Promise<void>
  /**
   * Claims the oldest free job, if any. The job's `attempts` include this attempt and the earlier ones during which a
   * node stopped. `running` contains the IDs of the files that this node is processing. These files are not claimed
   * again, even if their leases appear to have expired, which happens when the clock is set forward.
   */
  claim(holder: string, running?: readonly string[]): Promise<FileRow | undefined>
  /** Renews the lease. Returns false if another node has the lease, or if the job no longer exists. */
  renew(fileId: string, holder: string): Promise<boolean>
  /** Puts the job back in the queue without counting the attempt. */
  putBack(fileId: string, holder: string): Promise<boolean>
  /**
   * Postpones the job without counting the attempt, because something that the job needs is unavailable. `seconds` must
   * be at most `maxRetryDelaySeconds`.
   */
  retryLater(fileId: string, holder: string, seconds: number): Promise<boolean>
  /**
   * Ends a job that did not produce a ready file: either the file failed and its bytes must be deleted, or chunks must
   * be sent again.
   */
  end(fileId: string, holder: string, result: EndedJob): Promise<boolean>
  /**
   * Replaces the reference to lost bytes with a reference to a new object, to which all chunks must be sent again. The
   * job continues until `end` reopens the upload.
   */
  forgetBytes(fileId: string, holder: string, objectKey: string): Promise<boolean>
}

/** A job without a ready file. `uploadId` is the ID of the upload that receives the missing chunks. */
export type EndedJob =
  | { status: 'failed'; detail: string }
  | { status: 'uploading'; detail: string; uploadId: string | null }

/**
 * Duration of a lease: long enough that two renewals may fail, and short enough that a dead node's files do not wait
 * long.
 */
const leaseSeconds = 15
/**
 * The longest time for which a job is postponed. If a job is postponed by more than this, the clock must have been set
 * back, so the job can be claimed immediately.
 */
export const maxRetryDelaySeconds = 300
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

    claim: (holder: string, running: readonly string[] = []): Promise<FileRow | undefined> =>
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
              is.or([
                is('lease_until', 'is', null),
                is('lease_until', '<', databaseTime(db)),
                is('lease_until', '>', databaseTime(db, maxRetryDelaySeconds)),
              ]),
            )
            .$if(running.length > 0, (jobs) => jobs.where('id', 'not in', running))
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
        status_detail: 'processing failed because of a problem on the server and will be retried',
        lease_holder: null,
        lease_until: databaseTime(db, seconds),
        attempts: sql`attempts - 1`,
      }),

    end: (fileId: string, holder: string, ended: EndedJob): Promise<boolean> =>
      ifHeld(
        ended.status === 'failed'
          ? moveFiles(db, 'fail', { status_detail: ended.detail })
          : moveFiles(db, 'reopen', { status_detail: ended.detail, upload_id: ended.uploadId }),
        fileId,
        holder,
      ),

    forgetBytes: (fileId: string, holder: string, objectKey: string): Promise<boolean> =>
      change(fileId, holder, {
        object_key: objectKey,
        upload_id: null,
        blob_hash: null,
        upload_expires_at: databaseTime(db, uploadLifetimeSeconds),
      }),
  }
}

const noLease = { lease_holder: null, lease_until: null }
