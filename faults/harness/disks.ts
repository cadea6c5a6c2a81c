/** Disks of their own that can be filled and made read-only. As root. */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

const run = (program: string, ...words: string[]) =>
  execFileSync(program, words, { stdio: ['ignore', 'ignore', 'pipe'] })

export type MemoryDisk = ReturnType<typeof mountMemory>
export type ImageDisk = ReturnType<typeof mountImage>

/** A disk in memory at `path`. */
export function mountMemory(path: string, megabytes: number) {
  mkdirSync(path, { recursive: true })
  run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path)
  const remount = (option: string) => run('mount', '-o', `remount,${option}`, path)
  return {
    path,
    resize: (to: number) => remount(`size=${to}m`),
    /** False while a file is open for writing: the system refuses then. */
    makeReadOnly(): boolean {
      try {
        remount('ro')
        return true
      } catch (error) {
        if (String(error).includes('busy')) return false
        throw error
      }
    },
    makeWritable: () => remount('rw'),
    [Symbol.dispose]: () => void run('umount', '-l', path),
  }
}

/**
 * A disk with ext4 in a file. Unlike one in memory it can become read-only under a process that writes to it, as a real one does
 * after an error.
 */
export function mountImage(image: string, path: string) {
  mkdirSync(path, { recursive: true })
  writeFileSync(image, '')
  truncateSync(image, 64 * 1024 * 1024)
  run('mkfs.ext4', '-q', '-F', image)
  const mount = () => run('mount', '-o', 'loop', image, path)
  mount()
  return {
    path,
    /** What the kernel does itself when a write to a disk fails. */
    failWrites: () => run('mount', '-o', 'remount,abort', path),
    /** Nobody may have a file open there. */
    repair() {
      run('umount', path)
      checkFileSystem(image)
      mount()
    },
    [Symbol.dispose]: () => void run('umount', '-l', path),
  }
}

/** 1: there were errors, which are corrected. */
function checkFileSystem(image: string) {
  try {
    run('e2fsck', '-p', image)
  } catch (error) {
    if ((error as { status?: number }).status !== 1) throw error
  }
}

/** Takes all the room that is left, to the last block. */
export function fillDisk({ path }: MemoryDisk): { remove(): void } {
  const filler = join(path, 'filler')
  const file = openSync(filler, 'a')
  for (let size = 1024 * 1024; size >= 1; ) {
    try {
      const written = writeSync(file, Buffer.alloc(size))
      if (written < size) size = Math.floor(size / 2)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      size = Math.floor(size / 2)
    }
  }
  closeSync(file)
  return { remove: () => rmSync(filler, { force: true }) }
}
