/** Reads a log file to which another process appends lines. */
import { type FileHandle, open, rename, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { ignoreMissing } from '@shoal/files'

const pollIntervalMs = 250
/** A log may be large, so it is read from its end, in blocks of this size. */
const bytesAtOnce = 256 * 1024

export type LastLines = { lines: string[]; end: number }

/** Returns the last `maxLines` complete lines, and the position of their end; undefined if there is no file. */
export async function lastLines(path: string, maxLines: number): Promise<LastLines | undefined> {
  const file = await openIfThere(path)
  if (!file) return undefined
  try {
    const { size } = await file.stat()
    let text = ''
    let start = size
    while (start > 0 && text.split('\n').length <= maxLines + 1) {
      start = Math.max(0, start - bytesAtOnce)
      text = (await readBetween(file, start, size)).toString('utf8')
    }
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    const lines = whole.split('\n').slice(0, -1)
    const unfinished = Buffer.byteLength(text.slice(whole.length))
    return { lines: maxLines === 0 ? [] : lines.slice(-maxLines), end: size - unfinished }
  } finally {
    await file.close()
  }
}

/** Yields the lines after position `from`, until the signal fires. Starts over if the file is truncated or replaced. */
export async function* followFile(path: string, from: number, signal: AbortSignal) {
  let position = from
  let identity = await readIdentity(path)
  while (!signal.aborted) {
    const now = await readIdentity(path)
    if (now && (now.inode !== identity?.inode || now.size < position)) position = 0
    identity = now ?? identity
    if (now && now.size > position) {
      const { lines, end } = await linesFrom(path, position)
      position = end
      yield* lines
    }
    // An abort ends the loop normally.
    await sleep(pollIntervalMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Enough for about 50,000 requests, at one line per request. */
const maxLogBytes = 10e6

/** Renames a large log, replacing any log renamed earlier. Must be called before the log is opened for writing. */
export async function putOldLogAside(file: string): Promise<void> {
  const found = await readIdentity(file)
  if (found && found.size > maxLogBytes) await rename(file, `${file}.1`)
}

async function linesFrom(path: string, position: number): Promise<LastLines> {
  const file = await openIfThere(path)
  if (!file) return { lines: [], end: position }
  try {
    const { size } = await file.stat()
    const bytes = await readBetween(file, position, size)
    // Returns only complete lines. The bytes after them, which may end within a character, are read again later.
    const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1)
    return { lines: whole.toString('utf8').split('\n').slice(0, -1), end: position + whole.length }
  } finally {
    await file.close()
  }
}

async function readBetween(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, end - start)), {
    position: start,
  })
  return buffer.subarray(0, bytesRead)
}

async function readIdentity(path: string) {
  const found = await stat(path).catch(ignoreMissing)
  return found && { inode: found.ino, size: found.size }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  return await open(path, 'r').catch(ignoreMissing)
}
