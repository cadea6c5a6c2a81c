import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { isatty } from 'node:tty'
import { promisify } from 'node:util'
import { makeFolder } from '@shoal/files'

/** A destination for bytes that never blocks the process. */
export type Output = {
  /** Resolves to the number of bytes written. Rejects if none can be written now. */
  write(bytes: Uint8Array): Promise<number>
  /** Writes synchronously, for a process that is exiting. Returns 0 if no bytes can be written. */
  writeNow(bytes: Uint8Array): number
  close(): void
}

const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_WRONLY } = constants

/**
 * Opens a file for appending, and creates the file and its folder if they are missing. A named pipe can also be opened
 * if it has a reader.
 */
export function openFile(path: string): Output {
  makeFolder(dirname(path))
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o644)
  return { ...outputTo(fd), close: () => closeSync(fd) }
}

export function openStdout(): Output {
  if (isatty(1)) return openTerminal()
  // Reading `process.stdout` opens Node's own stream, which makes pipes and sockets non-blocking.
  const { fd } = process.stdout
  return { ...outputTo(fd), close: () => undefined }
}

/** A terminal stopped with Ctrl-S blocks a process that writes to it, unless the process opened it as non-blocking. */
function openTerminal(): Output {
  try {
    const fd = openSync('/dev/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY)
    return { ...outputTo(fd), close: () => closeSync(fd) }
  } catch {
    // The terminal belongs to another user, for example after `su`. It cannot be opened again, so writing may block.
    return { ...outputTo(1), close: () => undefined }
  }
}

/**
 * Regular files have no non-blocking mode, so they are written in another thread. A stalled disk then blocks only that
 * thread.
 */
function outputTo(fd: number): Pick<Output, 'write' | 'writeNow'> {
  const isRegular = fstatSync(fd).isFile()
  return {
    write: isRegular ? writeInThread(fd) : async (bytes) => writeSync(fd, bytes),
    writeNow(bytes) {
      try {
        return writeSync(fd, bytes)
      } catch {
        return 0 // the process is exiting, so there is nowhere to report the error
      }
    },
  }
}

function writeInThread(fd: number): Output['write'] {
  const writeBytes = promisify(write)
  return async (bytes) => (await writeBytes(fd, bytes)).bytesWritten
}
