import { existsSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@shoal/files'
import { type Board, newBoard, writtenBytes } from '../chunks/board.ts'
import type { Chunk, Manifest } from '../chunks/manifest.ts'
import { getFilePaths } from './file-paths.ts'
import { createJournal, type JournalIdentity, readJournal } from './journal.ts'
import { ownPartial } from './own-copy.ts'
import { refuseLink } from './refuse-link.ts'

export type PartialFile = {
  path: string
  board: Board
  /**
   * Chunks that are complete according to the journal of an earlier run. They must be hashed before they are trusted.
   */
  claimed: Chunk[]
  /** Why the journal of an earlier run cannot be used; undefined if it can, or if there was no earlier run. */
  startingOver: string | undefined
  saveJournal(): void
  /** Starts to flush the written bytes to disk, and does not wait for the flush to finish. */
  startSync(): void
  sync(): Promise<void>
  close(): void
}

/** Opens or creates the partial file at its full size. The file is sparse, so it does not take up disk space yet. */
export async function openPartial(path: string, manifest: Manifest): Promise<PartialFile> {
  const paths = getFilePaths(path)
  makeFolder(dirname(paths.partial))
  refuseLink(paths.partial)
  await ownPartial(path)
  const former = await readFormerRun(path, manifest)
  const board = newBoard(manifest.chunks.length)
  await using opened = new AsyncDisposableStack() // closes the file if a later step fails
  const handle = opened.use(await open(paths.partial, former.isKept ? 'r+' : 'w+'))
  await handle.truncate(manifest.fileSizeBytes)
  for (const [index, count] of former.written.entries()) board.written[index] = count
  const journal = createJournal(paths.journal, manifest, board.written)
  opened.move()
  let syncing: Promise<void> | undefined
  // The system reports a failed write only once, so a later successful sync must not hide the failure.
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
      // A canceled pull does not wait for the disk: the handle closes when pending writes have finished. An error is
      // safe to ignore, because a complete pull has called `sync`, and a partial one is verified when it is resumed.
      handle.close().catch(() => undefined)
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
    // The bytes may still be good, and hashing them is cheaper than downloading them again.
    const { blocks } = await stat(paths.partial)
    const all = Int32Array.from(manifest.chunks, ({ size }) => size)
    const what = journal === undefined ? 'is missing' : 'cannot be read'
    return {
      isKept: true,
      written: blocks === 0 ? nothing : all,
      startingOver: `the record of the earlier pull's progress ${what}`,
    }
  }
  if (!isSameFile(journal.identity, manifest)) {
    const startingOver = 'the file on the registry has changed since the earlier pull'
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

/**
 * Returns the number of written bytes and the total size of a partial file, according to its journal. Returns undefined
 * if the journal is missing or damaged.
 */
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
