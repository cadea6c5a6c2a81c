/** The record of a pulled or imported file: a small file beside it that contains its hashes. */

import { writeWhole } from '@shoal/files'
import { getFilePaths } from './file-paths.ts'
import { readJson } from './read-json.ts'
import type { FileStamp } from './stamp.ts'

/** A file of a registry. */
export type RegistryIdentity = {
  /** The registry's base URL. */
  registry: string
  model_id: string
  file_id: string
}

/**
 * The record of a file. If the file was imported from another program, its record contains a registry only if the user
 * specified one that has the file.
 */
export type LocalFileRecord = {
  format: 1
  model_name: string
  filename: string
  quantization: string | null
  sha256_hash: string
  file_size_bytes: number
  chunk_size: number
  /** The chunks' SHA-256 hashes, 32 bytes each, in order, as base64. */
  chunk_hashes: string
  pulled_at: string
  /**
   * Set if the file must not be shared, for example because the user pulled it without peers. Nobody else then learns
   * that the file is on this machine.
   */
  without_peers?: true
} & FileStamp & // as long as the stamp matches, the file is not hashed again
  (RegistryIdentity | { [field in keyof RegistryIdentity]?: never })

export type RegistryRecord = LocalFileRecord & RegistryIdentity

export const isOfRegistry = (record: LocalFileRecord): record is RegistryRecord =>
  record.registry !== undefined

/**
 * Returns the record of the file at `path`; undefined if there is none or it is invalid.
 * @example
 * import { readRecord } from '@shoal/transfer'
 *
 * const record = await readRecord('models/tide/tide.gguf')
 * console.log(record?.model_name, record?.sha256_hash)
 */
export const readRecord = (path: string): Promise<LocalFileRecord | undefined> =>
  readJson(getFilePaths(path).record, isRecord)

export const writeRecord = (path: string, record: LocalFileRecord): Promise<void> =>
  writeWhole(getFilePaths(path).record, `${JSON.stringify(record, null, 2)}\n`)

function isRecord(value: unknown): value is LocalFileRecord {
  if (typeof value !== 'object' || value === null) return false
  const { format, sha256_hash, file_size_bytes, chunk_size, chunk_hashes } =
    value as LocalFileRecord
  return (
    format === 1 &&
    /^[0-9a-f]{64}$/.test(sha256_hash) &&
    Number.isSafeInteger(file_size_bytes) &&
    chunk_size > 0 &&
    typeof chunk_hashes === 'string' &&
    Buffer.from(chunk_hashes, 'base64').length === Math.ceil(file_size_bytes / chunk_size) * 32
  )
}
