import { closeSync, fdatasync, openSync, writeSync } from 'node:fs'

export type Journal = Disposable & {
  /** Appends one line, which reaches the disk soon after. */
  note(entry: object): void
}

/**
 * What the registry acknowledged, a line of JSON each, for whoever examines a driver that crashed. One sync to the disk is under way
 * at a time, and takes all lines before it along.
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
