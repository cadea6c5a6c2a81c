/**
 * A file that reserves space on the database's disk. SQLite writes every change to its write-ahead log first, so on a
 * full disk it cannot even delete rows. If a commit needs space, the file is shortened, but by no more than the commit
 * needs, because other programs may use up any free space. The file is restored when there is enough free space.
 */
import { randomFillSync } from 'node:crypto'
import { rmSync, statfsSync, statSync, truncateSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { mebibyte } from '@shoal/core/units'
import { isStorageFull } from '../unavailable.ts'

const blockBytes = 4096
/**
 * Enough for many deletions, most of which write 20 to 200 kB to the log. Only deleting one of the largest files, which
 * has 10,000 chunks, may need more: up to 40 MB.
 */
const maxBytes = 32 * mebibyte
const minBytes = mebibyte
const diskShare = 0.01

export type Ballast = {
  /** Size of the complete file, in bytes. */
  sizeBytes: number
  /** Whether less than `sizeBytes` of disk space is free. The check takes microseconds. */
  isTight(): boolean
  /** Bytes that are free, or can be freed by removing the file. */
  roomBytes(): number
  /**
   * Shortens the file so that this many bytes are free, or removes the file if it is too small for that. Returns
   * whether any space was freed.
   */
  makeRoom(bytes: number): boolean
  /** Whether `roomBytes` is less than half of `sizeBytes`. If so, the remaining space is reserved for deletions. */
  isNearlySpent(): boolean
  /** Restores the file if it is smaller than `sizeBytes` and at least twice `sizeBytes` of space is free. */
  restore(): Promise<void>
  /** Number of bytes by which the file is smaller than `sizeBytes`. */
  missingBytes(): number
}

/**
 * Opens the ballast in a directory. Its size is 1% of the disk, but at least 1 MiB and at most 32 MiB. Tests set the
 * size with `bytes`; 0 disables the ballast.
 */
export function openBallast(directory: string, bytes?: number): Ballast {
  const path = join(directory, 'ballast')
  const sizeBytes = bytes ?? computeDefaultSize(directory)

  function freeBytes(): number {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  }

  const leftBytes = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const roomBytes = () => freeBytes() + leftBytes()

  return {
    sizeBytes,
    isTight: () => freeBytes() < sizeBytes,
    roomBytes,
    makeRoom(bytes) {
      const lacking = bytes - freeBytes()
      const left = leftBytes()
      if (lacking <= 0 || left === 0) return false
      shorten(path, left - Math.ceil(lacking / blockBytes) * blockBytes)
      return true
    },
    isNearlySpent: () => roomBytes() < sizeBytes / 2,
    async restore() {
      if (leftBytes() >= sizeBytes || freeBytes() < 2 * sizeBytes) return
      await write(path, sizeBytes)
    },
    missingBytes: () => Math.max(0, sizeBytes - leftBytes()),
  }
}

/**
 * Shortens the file, or removes it if that fails: a full copy-on-write file system may be unable to shorten a file but
 * still able to remove it.
 */
function shorten(path: string, bytes: number) {
  try {
    if (bytes > 0) truncateSync(path, bytes)
    else rmSync(path, { force: true })
  } catch (error) {
    if (!(error instanceof Error && isStorageFull(error))) throw error
    rmSync(path, { force: true })
  }
}

function computeDefaultSize(directory: string): number {
  const { blocks, bsize } = statfsSync(directory)
  const share = Math.floor((blocks * bsize * diskShare) / mebibyte) * mebibyte
  return Math.max(minBytes, Math.min(maxBytes, share))
}

/** Writes random bytes, because zeros take no space on a file system with compression. */
async function write(path: string, sizeBytes: number) {
  const unfinished = `${path}.unfinished`
  try {
    const file = await open(unfinished, 'w')
    try {
      const block = randomFillSync(Buffer.alloc(mebibyte))
      for (let written = 0; written < sizeBytes; written += block.length) {
        await file.write(block, 0, Math.min(block.length, sizeBytes - written))
      }
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
