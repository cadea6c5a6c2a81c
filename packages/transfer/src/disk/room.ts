import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { noRoom } from '../errors.ts'

/** Throws `no_room` where the disk cannot take what is missing of the file at `path`. */
export async function ensureRoom(path: string, fileSizeBytes: number): Promise<void> {
  const room = await roomFor(path, fileSizeBytes)
  if (room.neededBytes > room.freeBytes) throw noRoom(dirname(path), room)
}

export async function roomFor(path: string, fileSizeBytes: number) {
  const { bavail, bsize } = await statfs(dirname(path))
  const here = await stat(path).catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  const occupied = (here?.blocks ?? 0) * 512 // stat's unit, whatever the disk's
  return { neededBytes: Math.max(0, fileSizeBytes - occupied), freeBytes: bavail * bsize }
}

/** Whether an error's code says that the disk, or the user's share of it, is full. */
export function isFull(code: string | undefined): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT'
}
