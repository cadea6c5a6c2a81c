import { constants } from 'node:fs'
import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreMissing } from '@shoal/files'

/**
 * Creates a file or sets the length of an existing one. Any added part reads as zeros and does not use disk space yet.
 */
export async function extend(path: string, size: number) {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT)
  try {
    if ((await file.stat()).size !== size) await file.truncate(size)
  } finally {
    await file.close()
  }
}

/**
 * Creates a file of this many zero bytes, with disk space allocated for all of them. An existing file of this size is
 * not changed.
 */
export async function writeZeros(path: string, size: number) {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT)
  try {
    if ((await file.stat()).size !== size) await file.writeFile(Buffer.alloc(size))
  } finally {
    await file.close()
  }
}

export async function readWhole(path: string): Promise<Buffer> {
  const file = await open(path, 'r').catch(ignoreMissing)
  if (!file) return Buffer.alloc(0)
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}

export async function syncFile(path: string) {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

export async function removeFiles(...paths: string[]) {
  for (const path of paths) await rm(path, { force: true })
}

export async function subfolders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name))
}

/** Returns a file's size in bytes, or undefined if the file does not exist. */
export async function findSize(path: string): Promise<number | undefined> {
  return (await findStats(path))?.size
}

export async function findStats(path: string) {
  return stat(path).catch(ignoreMissing)
}
