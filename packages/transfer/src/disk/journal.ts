/**
 * The journal is a small file beside a partial file. It records which file is being downloaded, and how much of each
 * chunk has been written. After a power loss, the journal may disagree with the disk. This does no harm, because the
 * chunks of an earlier run are hashed again before they are trusted.
 */
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isErrno, makeFolder } from '@shoal/files'
import type { Manifest } from '../chunks/manifest.ts'
import { writeAll } from './write-all.ts'

export type JournalIdentity = { sha256_hash: string; file_size_bytes: number; chunk_size: number }
export type JournalContent = { identity: JournalIdentity; written: Int32Array }

const format = 'shoal journal 1'
/** The journal of a file with 10,000 chunks has 40 kB. */
const maxBytes = 1024 * 1024

/** Reads a journal. Returns undefined if there is none, and 'damaged' if its content is invalid. */
export function readJournal(path: string): JournalContent | 'damaged' | undefined {
  let bytes: Buffer
  try {
    const found = statSync(path)
    if (!found.isFile() || found.size > maxBytes) return 'damaged' // reading a pipe would wait for a writer
    bytes = readFileSync(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
  const identity = parseIdentity(bytes)
  if (identity === undefined) return 'damaged'
  const table = bytes.subarray(bytes.indexOf('\n') + 1)
  const chunks = Math.ceil(identity.file_size_bytes / identity.chunk_size)
  if (table.length !== chunks * 4) return 'damaged'
  const written = Int32Array.from({ length: chunks }, (_, index) => table.readInt32LE(index * 4))
  const isSane = written.every(
    (count, index) => count >= 0 && count <= computeChunkSize(index, identity),
  )
  return isSane ? { identity, written } : 'damaged'
}

function computeChunkSize(index: number, { file_size_bytes, chunk_size }: JournalIdentity) {
  return Math.min(chunk_size, file_size_bytes - index * chunk_size)
}

function parseIdentity(bytes: Buffer): JournalIdentity | undefined {
  try {
    const header = JSON.parse(bytes.toString('utf8', 0, Math.max(0, bytes.indexOf('\n'))))
    const isOurs =
      header?.format === format &&
      typeof header.sha256_hash === 'string' &&
      header.file_size_bytes > 0 &&
      header.chunk_size > 0
    return isOurs ? header : undefined
  } catch {
    return undefined // the caller handles a damaged journal
  }
}

export type Journal = { save(written: Int32Array): void; close(): void }

/**
 * Creates a journal, replacing any existing one. `written` contains the number of bytes written of each chunk. If any
 * of these numbers has changed, `save` writes all of them, at most 40 kB.
 */
export function createJournal(path: string, manifest: Manifest, written: Int32Array): Journal {
  makeFolder(dirname(path))
  const identity: JournalIdentity = {
    sha256_hash: manifest.sha256,
    file_size_bytes: manifest.fileSizeBytes,
    chunk_size: manifest.chunkSize,
  }
  const header = Buffer.from(`${JSON.stringify({ format, ...identity })}\n`)
  let table = encodeTable(written)
  const unfinished = `${path}.new`
  const fd = openSync(unfinished, 'w')
  try {
    writeAll(fd, Buffer.concat([header, table]), 0)
    renameSync(unfinished, path)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  let isOpen = true

  return {
    save(written) {
      const next = encodeTable(written)
      if (next.equals(table)) return
      table = next
      writeAll(fd, table, header.length)
    },
    close() {
      if (isOpen) closeSync(fd)
      isOpen = false
    },
  }
}

function encodeTable(written: Int32Array): Buffer {
  const table = Buffer.allocUnsafe(written.length * 4)
  for (let index = 0; index < written.length; index += 1) {
    table.writeInt32LE(Atomics.load(written, index), index * 4)
  }
  return table
}
