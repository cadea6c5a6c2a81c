/**
 * The states of a file and the transitions between them. Only `moveFiles` changes a status, and only `dropFiles`
 * deletes a row that must be in a certain state. Both look up the event here and skip files in any other state.
 * `docs/architecture.md` has a diagram.
 */
import { type Kysely, sql, type UpdateObject } from 'kysely'
import type { Database, FileStatus } from '../../database/schema.ts'

/** The owner of the model (or an admin), the node that holds the job's lease, or the hourly garbage collection. */
export type Actor = 'owner' | 'lease holder' | 'garbage collection'

export type FileTransition = {
  /** The states in which the event can happen; empty for a file that does not exist yet. */
  from: readonly FileStatus[]
  /** The state after the event, or undefined if the row is deleted. */
  to: FileStatus | undefined
  /** Who can cause the event. */
  by: Actor
  /** When the event happens, and its side effects. */
  does: string
  /** Columns that the event always sets to the same values. */
  sets?: FileChanges
}

type FileChanges = UpdateObject<Database, 'file'>

const noLease = { lease_holder: null, lease_until: null }
const givenUp = { ...noLease, status_detail: 'the upload was cancelled', blob_hash: null }

/** An upload with no activity for this long expires. */
export const uploadLifetimeSeconds = 7 * 86_400

/** Every event in the life of a file. */
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
/** The events that change the status of an existing file. */
export type FileMove = Exclude<EventsTo<FileStatus>, 'begin'>
/** The events that delete a file's row. */
export type FileRemoval = EventsTo<undefined>

/** The final states of files that did not become ready: their uploads are removed and must be started again. */
export const endedBadly = ['failed', 'expired'] as const satisfies FileStatus[]

export function hasEndedBadly(status: FileStatus): status is (typeof endedBadly)[number] {
  return status === 'failed' || status === 'expired'
}

/**
 * The update that an event makes, including `changes`, to files in a state in which it can happen. The caller adds the
 * condition that selects the files.
 */
export function moveFiles(db: Kysely<Database>, event: FileMove, changes: FileChanges = {}) {
  const { from, to, sets } = fileTransitions[event]
  const status = sql<never>`${to}` // typed `never`, so that no other place can assign a status
  return db
    .updateTable('file')
    .set({ ...sets, ...changes, status })
    .where('status', 'in', from)
}

/**
 * The deletion that an event makes of files in a state in which it can happen. The caller adds the condition that
 * selects the files.
 */
export function dropFiles(db: Kysely<Database>, event: FileRemoval) {
  const { from } = fileTransitions[event]
  return db.deleteFrom('file').where('status', 'in', from)
}
