import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { isatty } from 'node:tty'
import { promisify } from 'node:util'
import { makeFolder } from './make-folder.ts'

/** Where bytes go that never makes the process wait. */
export type Output = {
  /** Resolves to how many of the bytes were taken. Rejects when none can be now. */
  write(bytes: Uint8Array): Promise<number>
  /** The same at once, for a process that ends: 0 when none can be. */
  writeNow(bytes: Uint8Array): number
  close(): void
}

const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_WRONLY } = constants

/** A file to append to, made with its folder when it is not there; or a named pipe that somebody reads. */
export function openFile(path: string): Output {
  makeFolder(dirname(path))
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o644)
  return { ...outputTo(fd), close: () => closeSync(fd) }
}

export function openStdout(): Output {
  if (isatty(1)) return openTerminal()
  // Node makes pipes and sockets non-blocking when it opens its own stream on them, which this does.
  const { fd } = process.stdout
  return { ...outputTo(fd), close: () => undefined }
}

/** A terminal that was stopped (Ctrl-S) blocks its writers unless it was opened non-blocking. */
function openTerminal(): Output {
  try {
    const fd = openSync('/dev/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY)
    return { ...outputTo(fd), close: () => closeSync(fd) }
  } catch {
    return { ...outputTo(1), close: () => undefined } // another user's, as after `su`: it may make us wait
  }
}

/** Regular files have no non-blocking mode: they are written in another thread, which a stalled disk may hold up. */
function outputTo(fd: number): Pick<Output, 'write' | 'writeNow'> {
  const isRegular = fstatSync(fd).isFile()
  return {
    write: isRegular ? writeInThread(fd) : async (bytes) => writeSync(fd, bytes),
    writeNow(bytes) {
      try {
        return writeSync(fd, bytes)
      } catch {
        return 0 // the process is ending: there is no one left to report to
      }
    },
  }
}

function writeInThread(fd: number): Output['write'] {
  const writeBytes = promisify(write)
  return async (bytes) => (await writeBytes(fd, bytes)).bytesWritten
}
