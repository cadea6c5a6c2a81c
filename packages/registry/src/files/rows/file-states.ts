/**
 * The states of a file and the transitions between them. Only `moveFiles` changes a status, and only `dropFiles`
 * deletes a row if the deletion depends on the file's state. Both functions look up the event in `fileTransitions` and
 * skip files in states to which the event does not apply. `docs/architecture.md` has a diagram.
 */
import { type Kysely, sql, type UpdateObject } from 'kysely'
import type { Database, FileStatus } from '../../database/schema.ts'

/**
 * `owner` is the model's owner, a member who can write, or an administrator. `lease holder` is the node that holds the
 * job's lease. `garbage collection` runs once an hour.
 */
export type Actor = 'owner' | 'lease holder' | 'garbage collection'

export type FileTransition = {
  /** The states in which the event can happen; empty if the event creates the file. */
  from: readonly FileStatus[]
  /** The state after the event, or undefined if the event deletes the row. */
  to: FileStatus | undefined
  /** Who can cause the event. */
  by: Actor
  /** When the event happens, and what its effects are. */
  does: string
  /** Columns that the event always sets, with their values. */
  sets?: FileChanges
}

type FileChanges = UpdateObject<Database, 'file'>

const noLease = { lease_holder: null, lease_until: null }
const givenUp = { ...noLease, status_detail: 'the upload was canceled', blob_hash: null }

/** An upload expires after this long without activity. */
export const uploadLifetimeSeconds = 7 * 86_400

/** All events that create a file, change its status or delete its row. */
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
    does: 'the bytes match the manifest: they become a blob, and the info hashes and header metadata are saved',
    sets: { ...noLease, status_detail: null, object_key: null, upload_id: null },
  },
  reopen: {
    from: ['processing'],
    to: 'uploading',
    by: 'lease holder',
    does: 'some chunks are wrong or missing and must be sent again',
    sets: noLease,
  },
  fail: {
    from: ['processing'],
    to: 'failed',
    by: 'lease holder',
    does: 'the file is invalid, or nodes stopped too often while processing it; the bytes are removed',
    sets: { ...noLease, blob_hash: null },
  },
  expire: {
    from: ['uploading'],
    to: 'expired',
    by: 'garbage collection',
    does: 'nothing was sent for seven days; the bytes are removed',
    sets: { status_detail: 'nothing was sent for 7 days', blob_hash: null },
  },
  supersede: {
    from: ['uploading', 'failed', 'expired'],
    to: 'expired',
    by: 'owner',
    does: 'a new upload with the same filename starts; the bytes of the earlier upload are removed',
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
    does: 'after the bytes are removed, the row of a new upload with the same filename replaces this row',
  },
  remove: {
    from: ['uploading', 'processing', 'ready', 'failed', 'expired'],
    to: undefined,
    by: 'owner',
    does: 'the file or its model is deleted; bytes that no other file shares are moved to the trash',
  },
} as const satisfies Record<string, FileTransition>

export type FileEvent = keyof typeof fileTransitions
type EventsTo<To> = {
  [Event in FileEvent]: (typeof fileTransitions)[Event]['to'] extends To ? Event : never
}[FileEvent]
/** The events that change the status of an existing file. */
export type FileMove = Exclude<EventsTo<FileStatus>, 'begin'>
/** The events that delete a file's row. */
export type FileRemoval = EventsTo<undefined>

/**
 * The final states of files that did not become ready. Their uploaded bytes are removed, and a new upload must be
 * started.
 */
export const endedBadly = ['failed', 'expired'] as const satisfies FileStatus[]

export function hasEndedBadly(status: FileStatus): status is (typeof endedBadly)[number] {
  return status === 'failed' || status === 'expired'
}

/**
 * Builds the update that an event makes, including `changes`, for files in a state to which the event applies. The
 * caller adds the condition that selects the files.
 */
export function moveFiles(db: Kysely<Database>, event: FileMove, changes: FileChanges = {}) {
  const { from, to, sets } = fileTransitions[event]
  const status = sql<never>`${to}` // the type of the column is `never`, so that other code cannot assign a status
  return db
    .updateTable('file')
    .set({ ...sets, ...changes, status })
    .where('status', 'in', from)
}

/**
 * Builds the deletion that an event makes, for files in a state to which the event applies. The caller adds the
 * condition that selects the files.
 */
export function dropFiles(db: Kysely<Database>, event: FileRemoval) {
  const { from } = fileTransitions[event]
  return db.deleteFrom('file').where('status', 'in', from)
}
