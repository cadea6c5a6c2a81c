/**
 * A file that takes room on the database's disk so that there is some when it is needed: SQLite writes every change to its log
 * first, and so cannot even delete on a disk without a free block. Before a commit on a disk that is nearly full the file goes, and
 * it is made again when there is room.
 */
import { randomFillSync } from 'node:crypto'
import { existsSync, rmSync, statfsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

const mebibyte = 1024 * 1024
/** To delete takes 20 to 200 kB of log, and one of the largest files with its 10,000 chunks as many pages: up to 40 MB. */
const largestBytes = 32 * mebibyte
const smallestBytes = mebibyte
const shareOfDisk = 0.01

export type Ballast = {
  /** Gives the file up if less is free than its size. Returns whether the disk was so full. Microseconds. */
  makeRoom(): boolean
  /** Gives the file up. False when it is not there. */
  release(): boolean
  /** Whether it was given up and more than half of that room is used: the rest is for deleting. */
  isNearlySpent(): boolean
  /** Makes the file if it is not there and twice its size is free. */
  restore(): Promise<void>
  /** What the file would take and does not: its size, or 0. */
  missingBytes(): number
}

/** The ballast in a directory. `bytes` is for tests; by default it is 1 % of the disk, from 1 to 32 MiB. 0 is none. */
export function openBallast(directory: string, bytes?: number): Ballast {
  const path = join(directory, 'ballast')
  const sizeBytes = bytes ?? usualSize(directory)

  function freeBytes(): number {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  }

  function release(): boolean {
    const isThere = existsSync(path)
    if (isThere) rmSync(path, { force: true })
    return isThere
  }

  return {
    makeRoom() {
      if (freeBytes() >= sizeBytes) return false
      release()
      return true
    },
    release,
    isNearlySpent: () => freeBytes() < sizeBytes / 2 && !existsSync(path),
    async restore() {
      if (existsSync(path) || freeBytes() < 2 * sizeBytes || sizeBytes === 0) return
      await write(path, sizeBytes)
    },
    missingBytes: () => (existsSync(path) ? 0 : sizeBytes),
  }
}

function usualSize(directory: string): number {
  const { blocks, bsize } = statfsSync(directory)
  const share = Math.floor((blocks * bsize * shareOfDisk) / mebibyte) * mebibyte
  return Math.max(smallestBytes, Math.min(largestBytes, share))
}

/** Random bytes: zeros would take no room on a file system that compresses. */
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
