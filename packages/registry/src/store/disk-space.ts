import { readdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '@shoal/core/units'
import { storageFull } from '../errors.ts'
import { findStats } from './disk-files.ts'
import type { StoreSpace } from './object-store.ts'

const maxDefaultReserveBytes = 1e9
const defaultReserveShare = 0.02

export type DiskSpaceOptions = {
  /** The folder that contains the open uploads. */
  uploads: string
  /** Bytes that uploads must leave free. Default: 1 GB or 2% of the file system, whichever is smaller. */
  reserveBytes: number | undefined
  /** Bytes on this file system that are reserved for other purposes but not used yet. */
  promisedBytes: () => number
}

export interface DiskSpace {
  /** Reads the number of free bytes, the reserve, and the number of bytes that open uploads have not received yet. */
  read(): Promise<StoreSpace>
  /**
   * Checks that there is enough space for a new upload of this size, whose file must already exist with its full
   * length.
   * @throws `storage_full` if the open uploads, including the new one, would use part of the reserve
   */
  checkUploadsFit(sizeBytes: number): Promise<void>
  /**
   * Checks that there is enough space for a chunk of an accepted upload. Such a chunk may use up to half of the
   * reserve, so that the upload does not fail as soon as other data grows.
   * @throws `storage_full` if the chunk would need the other half, which is for the database
   */
  checkChunkFits(sizeBytes: number): Promise<void>
}

/** Determines how much space is left on a store's file system. */
export function diskSpace({ uploads, reserveBytes, promisedBytes }: DiskSpaceOptions): DiskSpace {
  const readFileSystem = () => readFileSystemSpace(uploads, reserveBytes)

  async function read(): Promise<StoreSpace> {
    return { ...(await readFileSystem()), awaitedBytes: await awaitedBytes(uploads) }
  }

  return {
    read,

    async checkUploadsFit(sizeBytes: number): Promise<void> {
      const space = await read()
      const kept = space.reserveBytes + promisedBytes()
      const missing = space.awaitedBytes + kept - space.freeBytes
      if (missing <= 0) return
      const others = space.awaitedBytes - sizeBytes
      const usable = Math.max(0, space.freeBytes - kept - others)
      throw storageFull(
        `not enough disk space on the registry for this file: ${formatBytes(missing)} more is needed ` +
          `(file size ${formatBytes(sizeBytes)}, available ${formatBytes(usable)}); try again when there is more space`,
        missing,
      )
    },

    async checkChunkFits(sizeBytes: number): Promise<void> {
      const space = await readFileSystem()
      const missing = sizeBytes + space.reserveBytes / 2 + promisedBytes() - space.freeBytes
      if (missing > 0) throw chunkRefused(missing)
    },
  }
}

/** Reads how many bytes are free on the file system of a folder, and how many of them must be left free. */
export async function readFileSystemSpace(folder: string, reserveBytes: number | undefined) {
  const { bavail, blocks, bsize } = await statfs(folder)
  const share = Math.floor(blocks * bsize * defaultReserveShare)
  return {
    freeBytes: bavail * bsize,
    reserveBytes: reserveBytes ?? Math.min(maxDefaultReserveBytes, share),
  }
}

export function chunkRefused(missingBytes: number) {
  return storageFull(
    `the registry's disk is full: ${formatBytes(missingBytes)} more is needed for this chunk, which was discarded; ` +
      'send it again when there is more space',
    missingBytes,
  )
}

/**
 * Returns the number of bytes that open uploads have not received yet. The files of open uploads have the declared
 * length, but have disk blocks only where bytes were written.
 */
async function awaitedBytes(uploads: string): Promise<number> {
  let sum = 0
  for (const name of await readdir(uploads)) {
    if (name.endsWith('.chunks')) continue
    const found = await findStats(join(uploads, name))
    if (found) sum += Math.max(0, found.size - found.blocks * 512) // POSIX: st_blocks is in units of 512 bytes
  }
  return sum
}
