import { closeSync, fdatasync, openSync, writeSync } from 'node:fs'

export type Journal = Disposable & {
  /** Appends one line, which is soon synced to the disk. */
  note(entry: object): void
}

/**
 * Opens a journal, which records each acknowledged change as a line of JSON. The journal can be examined after this
 * program has crashed. Only one sync runs at a time, and each sync covers all lines written before it.
 */
export function openJournal(path: string): Journal {
  const file = openSync(path, 'a')
  let isSyncing = false
  let isDirty = false
  let isClosed = false

  function sync() {
    if (isSyncing || !isDirty) return
    isSyncing = true
    isDirty = false
    fdatasync(file, (error) => {
      isSyncing = false
      if (isClosed) closeSync(file)
      else if (error) throw error
      else sync()
    })
  }

  return {
    note(entry) {
      if (isClosed) return
      writeSync(file, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`)
      isDirty = true
      sync()
    },
    [Symbol.dispose]() {
      isClosed = true
      if (!isSyncing) closeSync(file)
    },
  }
}
