/** Reads files that other programs or users have made, and that may be anything. */
import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'

/**
 * Opens a regular file for reading. Throws an error with the code `ENOTSUP` for anything else: opening a pipe would
 * wait until a program writes to it, and opening a device can have effects.
 */
export async function openFile(path: string): Promise<FileHandle> {
  if (!(await stat(path)).isFile()) throw refused('ENOTSUP', 'it is not a file')
  // The file may have been replaced since. Windows has neither pipes in folders nor the flag.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  throw refused('ENOTSUP', 'it is not a file')
}

/** Reads a regular file. Throws an error with the code `EFBIG` if it has more than `maxBytes`. */
export async function readSmallFile(path: string, maxBytes: number): Promise<Buffer> {
  await using handle = await openFile(path)
  const buffer = Buffer.alloc(Math.min((await handle.stat()).size, maxBytes) + 1)
  let length = 0
  for (let bytesRead = -1; bytesRead !== 0 && length < buffer.length; length += bytesRead) {
    ;({ bytesRead } = await handle.read(buffer, length))
  }
  if (length > maxBytes) throw refused('EFBIG', `it has more than ${maxBytes} bytes`)
  return buffer.subarray(0, length)
}

const refused = (code: string, message: string) => Object.assign(new Error(message), { code })
