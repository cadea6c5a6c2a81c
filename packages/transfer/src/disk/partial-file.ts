import { existsSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@shoal/log/folder'
import { type Board, newBoard, writtenBytes } from '../chunks/board.ts'
import type { Chunk, Manifest } from '../chunks/manifest.ts'
import { getFilePaths } from './file-paths.ts'
import { createJournal, type JournalIdentity, readJournal } from './journal.ts'
import { refuseLink } from './refuse-link.ts'

export type PartialFile = {
  path: string
  board: Board
  /** What a former run may have left: to be hashed before it is believed. */
  claimed: Chunk[]
  /** Why nothing that a former run noted is of use. */
  startingOver: string | undefined
  saveJournal(): void
  /** Has the disk take what was written so far, without waiting for it. */
  startSync(): void
  sync(): Promise<void>
  close(): void
}

/** Opens or creates the unfinished file, at its full size. It is sparse, so that takes no room yet. */
export async function openPartial(path: string, manifest: Manifest): Promise<PartialFile> {
  const paths = getFilePaths(path)
  makeFolder(dirname(paths.partial))
  refuseLink(paths.partial)
  const former = await readFormerRun(path, manifest)
  const board = newBoard(manifest.chunks.length)
  const handle = await open(paths.partial, former.isKept ? 'r+' : 'w+')
  await handle.truncate(manifest.fileSizeBytes)
  for (const [index, count] of former.written.entries()) board.written[index] = count
  const journal = createJournal(paths.journal, manifest, board.written)
  let syncing: Promise<void> | undefined
  // A system tells of a failed write once: it must not be forgotten when a later sync succeeds.
  let syncFailure: unknown

  return {
    path: paths.partial,
    board,
    claimed: manifest.chunks.filter(({ index, size }) => board.written[index] === size),
    startingOver: former.startingOver,
    saveJournal: () => journal.save(board.written),
    startSync() {
      syncing ??= handle.datasync().then(
        () => {
          syncing = undefined
        },
        (error) => {
          syncFailure = error
        },
      )
    },
    async sync() {
      await syncing
      if (syncFailure !== undefined) throw syncFailure
      await handle.datasync()
    },
    close() {
      journal.close()
      // A cancelled pull need not wait for the disk: the handle closes when the disk is done.
      handle.close().catch(() => undefined) // nothing is lost with a failing close: `sync` was the test
    },
  }
}

type FormerRun = { isKept: boolean; written: Int32Array; startingOver: string | undefined }

async function readFormerRun(path: string, manifest: Manifest): Promise<FormerRun> {
  const nothing = new Int32Array(manifest.chunks.length)
  const paths = getFilePaths(path)
  if (!existsSync(paths.partial)) {
    return { isKept: false, written: nothing, startingOver: undefined }
  }
  const journal = readJournal(paths.journal)
  if (journal === undefined || journal === 'damaged') {
    // The bytes may be good all the same, and reading them is cheaper than fetching them.
    const { blocks } = await stat(paths.partial)
    const all = Int32Array.from(manifest.chunks, ({ size }) => size)
    const what = journal === undefined ? 'is gone' : 'cannot be read'
    return {
      isKept: true,
      written: blocks === 0 ? nothing : all,
      startingOver: `the note of what an earlier pull had fetched ${what}`,
    }
  }
  if (!isSameFile(journal.identity, manifest)) {
    const startingOver = 'the file on the registry is another than the one an earlier pull began'
    return { isKept: false, written: nothing, startingOver }
  }
  return { isKept: true, written: journal.written, startingOver: undefined }
}

function isSameFile(identity: JournalIdentity, { sha256, fileSizeBytes, chunkSize }: Manifest) {
  return (
    identity.sha256_hash === sha256 &&
    identity.file_size_bytes === fileSizeBytes &&
    identity.chunk_size === chunkSize
  )
}

/** Bytes of an unfinished file and of the whole, for whoever only looks. Undefined where that cannot be read. */
export function readPartialProgress(
  path: string,
): { bytesHere: number; fileSizeBytes: number; identity: JournalIdentity } | undefined {
  const journal = readJournal(getFilePaths(path).journal)
  if (journal === undefined || journal === 'damaged') return undefined
  const { identity, written } = journal
  return {
    bytesHere: writtenBytes({ written }),
    fileSizeBytes: identity.file_size_bytes,
    identity,
  }
}
