/** Mounts files as ext4 disks on Linux. Requires root and loop devices, which some containers do not allow. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, needProgram } from './programs.ts'

const run = (program: string, ...words: string[]) =>
  execFileSync(needProgram(program), words, { stdio: ['ignore', 'ignore', 'pipe'] })

export type ImageDisk = ReturnType<typeof mountImage>

/**
 * Mounts the file `image`, which is created, as an ext4 disk of 64 MiB at `path`. Unlike a disk in memory, this disk
 * can become read-only while a process is writing to it, as a real disk does after an error.
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
    /**
     * Has the same effect as a failed write, after which the kernel makes the disk read-only. Changes that were not
     * synced are lost.
     */
    failWrites: () => run('mount', '-o', 'remount,abort', path),
    /** Repairs the file system. No process may have a file open on the disk. */
    repair() {
      run('umount', path)
      checkFileSystem(image)
      mount()
      checkWritable(path)
    },
    [Symbol.dispose]: () => void run('umount', '-l', path),
  }
}

/**
 * Throws if a disk that should be writable again is not, so that this is not taken for a fault of the program that uses
 * the disk.
 */
export function checkWritable(path: string) {
  const probe = join(path, 'is-writable')
  try {
    writeFileSync(probe, '', { flush: true })
    rmSync(probe)
  } catch (cause) {
    throw new Error(`the disk at ${path} was repaired, but is not writable`, { cause })
  }
}

/** Checks a file system. Exit code 1 of `e2fsck` means that errors were found and corrected. */
function checkFileSystem(image: string) {
  try {
    run('e2fsck', '-p', image)
  } catch (error) {
    if ((error as { status?: number }).status !== 1) throw error
  }
}

/** Whether ext4 disks can be mounted: false without root or `mkfs.ext4`, and in containers that lack permission. */
export function isAbleToMountImages(): boolean {
  if (process.getuid?.() !== 0 || !findProgram('mkfs.ext4')) return false
  const folder = mkdtempSync(join(tmpdir(), 'shoal-image-'))
  try {
    mountImage(join(folder, 'image'), join(folder, 'disk'))[Symbol.dispose]()
    return true
  } catch {
    return false // the container lacks permission to mount, or has no loop devices
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
