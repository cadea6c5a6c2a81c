import { startThread, type Thread, terminateThread } from '@shoal/threads'
import { readWhole } from './disk-files.ts'
import type { ReadBackMethods } from './read-back-thread.ts'
import type { WholeHashes } from './whole-hasher.ts'

/**
 * Reads uploads back from the disk and hashes them while later chunks arrive, so that little is left to read when an
 * upload is complete. A file can be hashed only in order, so the read-back stops at the first missing chunk until that
 * chunk arrives. A chunk that has been read back must not change. If it has to change, `drop` must be called first.
 */
export interface ReadBack {
  /** Reports that a chunk is stored and will not change. */
  stored(key: string, index: number): void
  /** Returns the number of chunks of an upload that have been read so far. */
  chunksRead(key: string): number
  /** Discards what has been read of an upload, and closes the upload's file. */
  drop(key: string): Promise<void>
  /**
   * Reads the rest of an upload and returns its hashes. `path` is the upload's current file. If nothing was read yet,
   * for example after a restart, reads the whole file.
   */
  finish(key: string, path: string, signal?: AbortSignal): Promise<WholeHashes>
  /** Discards what has been read of all uploads, and ends the thread, which closes their files. */
  close(): Promise<void>
}

type Options = {
  uploadPath(key: string): string
  /** Returns the path of the upload's map, a file with one byte per chunk. The byte is 1 if the chunk is stored. */
  mapPath(key: string): string
}

type Upload = {
  id: number
  stored: Set<number>
  /** The number of chunks that have been passed to the thread. */
  chunksPassed: number
  /** The number of chunks that the thread has read. */
  chunksRead: number
  lastStoredAt: number
  /** Resolves to true when the file is open in the thread, or to false if the file could not be opened. */
  isOpen: Promise<boolean>
}

/** Each open upload takes a file descriptor and about 1 kB of memory, plus the hashes of its pieces. */
const maxOpenUploads = 64
/** An upload that has received no new chunk for this long can lose its place to another upload. */
const idleUploadMs = 10 * 60_000
/** If no file has been open for this long, the thread ends, which frees about 10 MB. */
const idleThreadMs = 10_000

/** One thread reads all uploads back. It reads and hashes about 1 GB/s. */
export function readBack({ uploadPath, mapPath }: Options): ReadBack {
  const uploads = new Map<string, Upload>()
  /** The calls of `close` in progress, by upload. */
  const closings = new Map<string, Promise<void>>()
  let thread: Thread<ReadBackMethods> | undefined
  let idle: ReturnType<typeof setTimeout> | undefined
  let lastId = 0
  /** The number of calls of `finish` in progress. */
  let finishing = 0

  function getThread(): Thread<ReadBackMethods> {
    clearTimeout(idle)
    if (thread && !thread.rpc.isClosed) return thread
    const started = startThread<ReadBackMethods>('read-back-thread', import.meta.url, undefined)
    started.worker.unref() // uploads in progress do not keep the process running
    started.worker.on('error', () => undefined) // pending calls reject with the same error
    thread = started
    return started
  }

  /** Ends the thread some time after its last file is closed. */
  function rest() {
    clearTimeout(idle)
    if (uploads.size > 0 || finishing > 0 || !thread) return
    const resting = thread
    idle = setTimeout(() => {
      if (thread === resting) thread = undefined
      void terminateThread(resting)
    }, idleThreadMs)
    idle.unref()
  }

  function hasPlace(): boolean {
    if (uploads.size < maxOpenUploads) return true
    const [key, oldest] = [...uploads].reduce((a, b) =>
      a[1].lastStoredAt <= b[1].lastStoredAt ? a : b,
    )
    if (performance.now() - oldest.lastStoredAt < idleUploadMs) return false
    void close(key)
    return true
  }

  function begin(key: string): Upload {
    lastId += 1
    const upload: Upload = {
      id: lastId,
      stored: new Set(),
      chunksPassed: 0,
      chunksRead: 0,
      lastStoredAt: 0,
      isOpen: Promise.resolve(false),
    }
    uploads.set(key, upload)
    upload.isOpen = open(key, upload)
    return upload
  }

  async function open(key: string, upload: Upload): Promise<boolean> {
    try {
      await getThread().rpc.call('open', { id: upload.id, path: uploadPath(key) })
      const map = await readWhole(mapPath(key))
      map.forEach((mark, index) => {
        if (mark === 1) upload.stored.add(index)
      })
    } catch {
      // The upload was removed or finished in the meantime, or the file cannot be read. In each case, `finish` tries
      // again, and throws an error if that fails too. The file may be open already, and would keep its disk blocks.
      await closeFile(upload.id)
      if (uploads.get(key) === upload) uploads.delete(key)
      rest()
      return false
    }
    if (uploads.get(key) === upload) advance(upload)
    return true
  }

  function advance(upload: Upload) {
    while (upload.stored.has(upload.chunksPassed)) {
      upload.chunksPassed += 1
      const read = getThread().rpc.call('readNext', upload.id)
      read.then(
        () => {
          upload.chunksRead += 1
        },
        () => undefined, // the thread has ended: `finish` starts another and reads the whole file
      )
    }
  }

  /** Resolves when no file of the upload is open, even if another call has begun to close it. */
  function close(key: string): Promise<void> {
    const earlier = closings.get(key) ?? Promise.resolve()
    const upload = uploads.get(key)
    if (!upload) return earlier
    uploads.delete(key)
    const closing = earlier
      .then(() => upload.isOpen)
      .then(() => closeFile(upload.id))
      .finally(() => {
        if (closings.get(key) === closing) closings.delete(key)
        rest()
      })
    closings.set(key, closing)
    return closing
  }

  /** Closes a file in the thread. If the thread has ended, the file is closed already. */
  async function closeFile(id: number) {
    if (!thread || thread.rpc.isClosed) return
    await thread.rpc.call('close', id).catch(() => undefined)
  }

  /** Returns the ID of the upload's open file. If the file is not open, opens it and returns its new ID. */
  async function take(key: string, path: string): Promise<number> {
    const upload = uploads.get(key)
    uploads.delete(key)
    if (upload && (await upload.isOpen) && thread && !thread.rpc.isClosed) return upload.id
    lastId += 1
    const id = lastId
    await getThread().rpc.call('open', { id, path })
    return id
  }

  return {
    stored(key, index) {
      const upload = uploads.get(key) ?? (hasPlace() ? begin(key) : undefined)
      if (!upload) return // the whole file is read at the end
      upload.stored.add(index)
      upload.lastStoredAt = performance.now()
      void upload.isOpen.then((isOpen) => {
        if (isOpen && uploads.get(key) === upload) advance(upload)
      })
    },

    chunksRead: (key) => uploads.get(key)?.chunksRead ?? 0,
    drop: close,

    async close() {
      clearTimeout(idle)
      uploads.clear()
      const ending = thread
      thread = undefined
      if (ending) await terminateThread(ending)
    },

    async finish(key, path, signal) {
      signal?.throwIfAborted()
      finishing += 1
      try {
        const id = await take(key, path)
        const { rpc, worker } = getThread()
        worker.ref()
        const stop = () => void closeFile(id)
        signal?.addEventListener('abort', stop, { once: true })
        if (signal?.aborted) stop()
        try {
          return await rpc.call('finish', id)
        } catch (error) {
          signal?.throwIfAborted()
          throw error
        } finally {
          signal?.removeEventListener('abort', stop)
          if (finishing === 1) worker.unref()
        }
      } finally {
        finishing -= 1
        rest()
      }
    },
  }
}
