import { writeSync } from 'node:fs'

/**
 * Writes all bytes synchronously, with several calls if necessary, because the system may write fewer bytes than it was
 * given.
 */
export function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, position + done)
  }
}
