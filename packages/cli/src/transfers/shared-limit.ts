/** Limits that all of a user's processes on this machine share. */
import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '@shoal/files'

/** A process that has not shown a sign of life for this time has ended, or has nothing to transfer. */
const maxAgeMs = 3_000

/**
 * Divides a limit equally among the processes that are using it. Each of them refreshes a file in `folder` every second,
 * which is how often the result must be called.
 * @param readTotal The limit of all processes together, in bytes per second; undefined for no limit.
 */
export function sharedLimit(
  folder: string,
  readTotal: () => number | undefined,
): (isMoving: boolean) => number | undefined {
  const own = join(folder, `${process.pid}-${randomUUID()}`)
  return (isMoving) => {
    const total = readTotal()
    if (total === undefined) return undefined
    makeFolder(folder)
    writeFileSync(own, '.')
    const now = statSync(own).mtimeMs
    if (!isMoving) rmSync(own)
    let users = 1
    for (const path of readdirSync(folder).map((name) => join(folder, name))) {
      if (path === own) continue
      const found = statSync(path, { throwIfNoEntry: false })
      if (found === undefined) continue
      if (now - found.mtimeMs <= maxAgeMs) users += 1
      else rmSync(path, { force: true })
    }
    return Math.max(1, Math.floor(total / users))
  }
}
