/**
 * The states of a file, and the table of what may follow what. A file's status is changed by `moveFiles` alone, and a row
 * that depends on its state is deleted by `dropFiles`: both look the event up here and leave every file alone that is in another state.
 * `docs/architecture.md` has the picture.
 */
import { type Kysely, sql, type UpdateObject } from 'kysely'
import type { Database, FileStatus } from '../../database/schema.ts'

/** The owner of the model (or an admin), the node that holds the lease of the job, or the hourly garbage collection. */
export type Actor = 'owner' | 'lease holder' | 'garbage collection'

export type FileTransition = {
  /** The states that the event is for; none for a file that there is not yet. */
  from: readonly FileStatus[]
  /** The state after it, or undefined when the row goes. */
  to: FileStatus | undefined
  /** Who may cause it. */
  by: Actor
  /** When it happens, and what is done besides. */
  does: string
  /** The columns that it always sets to the same values. */
  sets?: FileChanges
}

type FileChanges = UpdateObject<Database, 'file'>

const noLease = { lease_holder: null, lease_until: null }
const givenUp = { ...noLease, status_detail: 'the upload was cancelled', blob_hash: null }

/** An upload that nobody touches for so long expires. */
export const uploadLifetimeSeconds = 7 * 86_400

/** Each event in a file's life: the states that it is for, the state after it, who causes it, and what is done. */
export const fileTransitions = {
  begin: {
    from: [],
    to: 'uploading',
    by: 'owner',
    does: 'an upload starts: its size counts against the quota, and the store reserves space for it',
  },
  submit: {
    from: ['uploading'],
    to: 'processing',
    by: 'owner',
    does: 'the upload is complete and is queued for processing',
    sets: { status_detail: null, attempts: 0 },
  },
  publish: {
    from: ['processing'],
    to: 'ready',
    by: 'lease holder',
    does: 'the bytes match the manifest: they become a blob, and the torrent and facts are saved',
    sets: { ...noLease, status_detail: null, object_key: null },
  },
  reopen: {
    from: ['processing'],
    to: 'uploading',
    by: 'lease holder',
    does: 'some chunks are wrong, or the stored bytes are lost: they must be sent again',
    sets: noLease,
  },
  fail: {
    from: ['processing'],
    to: 'failed',
    by: 'lease holder',
    does: 'the file is invalid, or its node stopped too often while processing it; its bytes are removed',
    sets: { ...noLease, blob_hash: null },
  },
  expire: {
    from: ['uploading'],
    to: 'expired',
    by: 'garbage collection',
    does: 'nothing was sent for seven days; its bytes are removed',
    sets: { status_detail: 'nothing was sent for 7 days', blob_hash: null },
  },
  supersede: {
    from: ['uploading', 'failed', 'expired'],
    to: 'expired',
    by: 'owner',
    does: 'another upload takes the name; the bytes are removed',
    sets: givenUp,
  },
  cancel: {
    from: ['uploading', 'processing', 'failed', 'expired'],
    to: 'expired',
    by: 'owner',
    does: 'the file or its model is deleted; the bytes are removed before the row',
    sets: givenUp,
  },
  replace: {
    from: ['failed', 'expired'],
    to: undefined,
    by: 'owner',
    does: 'once the bytes are removed, the row is replaced by that of the upload that takes the name',
  },
  remove: {
    from: ['uploading', 'processing', 'ready', 'failed', 'expired'],
    to: undefined,
    by: 'owner',
    does: 'the file or its model is deleted; bytes that no other file shares go to the trash',
  },
} as const satisfies Record<string, FileTransition>

export type FileEvent = keyof typeof fileTransitions
type EventsTo<To> = {
  [Event in FileEvent]: (typeof fileTransitions)[Event]['to'] extends To ? Event : never
}[FileEvent]
/** What changes the status of a file that there is. */
export type FileMove = Exclude<EventsTo<FileStatus>, 'begin'>
/** What ends with a file's row. */
export type FileRemoval = EventsTo<undefined>

/** Files that ended without being ready: their uploads are removed, and can only be started again. */
export const endedBadly = ['failed', 'expired'] as const satisfies FileStatus[]

export function hasEndedBadly(status: FileStatus): status is (typeof endedBadly)[number] {
  return status === 'failed' || status === 'expired'
}

/**
 * The update that an event makes of those files which are in a state that it is for, `changes` included. The caller says which files.
 */
export function moveFiles(db: Kysely<Database>, event: FileMove, changes: FileChanges = {}) {
  const { from, to, sets } = fileTransitions[event]
  const status = sql<never>`${to}` // which no plain text is, so that only this place changes the column
  return db
    .updateTable('file')
    .set({ ...sets, ...changes, status })
    .where('status', 'in', from)
}

/** The deletion that an event makes of those files which are in a state that it is for. The caller says which files. */
export function dropFiles(db: Kysely<Database>, event: FileRemoval) {
  const { from } = fileTransitions[event]
  return db.deleteFrom('file').where('status', 'in', from)
}
