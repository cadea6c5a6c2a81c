/**
 * A file that reserves space on the database's disk: SQLite writes every change to its log first, so on a disk without
 * a free block it cannot even delete. Only as much of the file is given up as a commit needs, since any free space may
 * be used by others. The file is restored once there is enough space.
 */
import { randomFillSync } from 'node:crypto'
import { rmSync, statfsSync, statSync, truncateSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isStorageFull } from '../unavailable.ts'

const mebibyte = 1024 * 1024
const blockBytes = 4096
/**
 * A deletion needs 20 to 200 kB of log, and that of one of the largest files, with 10,000 chunks, up to 40 MB.
 *
 */
const maxBytes = 32 * mebibyte
const minBytes = mebibyte
const diskShare = 0.01

export type Ballast = {
  /** Size of the complete file, in bytes. */
  sizeBytes: number
  /** Whether less space than that is free. Takes microseconds. */
  isTight(): boolean
  /** Bytes that are free or can be freed. */
  roomBytes(): number
  /**
   * Gives up as much of the file as is needed to free this many bytes, or all of it. Returns whether it gave up
   * anything.
   */
  makeRoom(bytes: number): boolean
  /** Whether more than half of it has been given up: the rest is for deletions. */
  isNearlySpent(): boolean
  /** Restores the file if it is incomplete and twice its size is free. */
  restore(): Promise<void>
  /** Bytes that the file is short of its size. */
  missingBytes(): number
}

/**
 * The ballast in a directory. `bytes` is for tests; the default is 1% of the disk, from 1 to 32 MiB. 0 disables it.
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

/** Copy-on-write file systems may lack the space to shorten a file, and yet be able to remove one. */
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

/** Writes random bytes, because zeros take no space on a file system that compresses. */
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
