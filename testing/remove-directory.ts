import { existsSync, rmSync } from 'node:fs'

const pauseMs = 20
const maxAttempts = 250

/**
 * Removes a directory that exiting processes may still be changing. If another process deletes a file at the same time,
 * Node’s `rmSync` leaves files behind without throwing an error.
 * @throws if the directory cannot be removed within 5 s
 */
export function removeDirectorySync(path: string): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4))
  for (let attempt = 1; existsSync(path); attempt += 1) {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch (error) {
      if (attempt >= maxAttempts) throw error
    }
    if (!existsSync(path)) return
    if (attempt >= maxAttempts)
      throw new Error(`could not remove ${path}: a process is still writing to it`)
    Atomics.wait(nothing, 0, 0, pauseMs)
  }
}
