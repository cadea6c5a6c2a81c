/** Disks that are soon full: tmpfs of Linux, which root may mount, except in some containers. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An empty disk of a size such as `24m`. */
export function mountSmallDisk(size: string) {
  const path = mkdtempSync(join(tmpdir(), 'shoal-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path])
  return {
    path,
    resize: (to: string) => execFileSync('mount', ['-o', `remount,size=${to}`, path]),
    unmount() {
      execFileSync('umount', ['-l', path])
      rmdirSync(path)
    },
  }
}

export function canMountDisks(): boolean {
  if (process.getuid?.() !== 0) return false
  const path = mkdtempSync(join(tmpdir(), 'shoal-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', path], { stdio: 'ignore' })
    execFileSync('umount', [path])
    return true
  } catch {
    return false // a container without that right
  } finally {
    rmdirSync(path)
  }
}
