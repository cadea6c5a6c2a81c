import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoOf, ignoreMissing, reasonOfErrno } from '@shoal/files'
import { noRoom } from '../errors.ts'
import type { TransferFailure } from '../failure.ts'

/** Throws `no_room` if the disk cannot hold the missing part of the file at `path`. */
export async function ensureRoom(path: string, fileSizeBytes: number): Promise<void> {
  const room = await roomFor(path, fileSizeBytes)
  if (room.neededBytes > room.freeBytes) throw noRoom(dirname(path), room)
}

export async function roomFor(path: string, fileSizeBytes: number) {
  const { bavail, bsize } = await statfs(dirname(path))
  const here = await stat(path).catch(ignoreMissing)
  const occupied = (here?.blocks ?? 0) * 512 // `stat` always counts blocks of 512 bytes, whatever the disk
  return { neededBytes: Math.max(0, fileSizeBytes - occupied), freeBytes: bavail * bsize }
}

/** Whether an error code means that the disk is full or the user's quota is used up. */
export function isFull(code: string | undefined): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** The failure of a pull because the partial file cannot be read or written. */
export function diskFailure(error: unknown): TransferFailure {
  const code = errnoOf(error)
  return { kind: 'disk', message: reasonOfErrno(error as Error), ...(code && { code }) }
}
