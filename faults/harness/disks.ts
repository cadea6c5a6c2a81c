/** Separate disks that can be filled and made read-only. Requires root. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { checkWritable } from '../../testing/image-disk.ts'
import { needProgram } from '../../testing/programs.ts'

const run = (program: string, ...words: string[]) =>
  execFileSync(needProgram(program), words, { stdio: ['ignore', 'ignore', 'pipe'] })

export type MemoryDisk = ReturnType<typeof mountMemory>

/** Mounts a disk in memory at `path`. */
export function mountMemory(path: string, megabytes: number) {
  mkdirSync(path, { recursive: true })
  run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path)
  const remount = (option: string) => run('mount', '-o', `remount,${option}`, path)
  return {
    path,
    resize: (to: number) => remount(`size=${to}m`),
    /**
     * Makes the disk read-only. Returns false if a file is open for writing, because the kernel refuses the change in
     * that case.
     */
    makeReadOnly(): boolean {
      try {
        remount('ro')
        return true
      } catch (error) {
        if (String(error).includes('busy')) return false
        throw error
      }
    },
    makeWritable() {
      remount('rw')
      checkWritable(path)
    },
    [Symbol.dispose]: () => void run('umount', '-l', path),
  }
}

/** Uses up all remaining disk space, to the last block. */
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
