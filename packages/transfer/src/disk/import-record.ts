/**
 * The import record of a file: where the file came from, and how it was imported. Once the file has been hashed, its
 * hashes are in a separate record (`record.ts`).
 */
import { rm } from 'node:fs/promises'
import { writeWhole } from '@shoal/files'
import { getFilePaths } from './file-paths.ts'
import { readJson } from './read-json.ts'
import type { FileStamp } from './stamp.ts'

/** How an imported file is stored in the models folder: as a symbolic link, as a hard link or reflink, or as a copy. */
export type ImportMethod = 'reference' | 'link' | 'copy'

/** A file of a registry with the same SHA-256 as an imported file. */
export type RegistryTwin = {
  /** The registry's base URL. */
  registry: string
  model_id: string
  model_name: string
  file_id: string
}

export type ImportRecord = {
  format: 1
  method: ImportMethod
  /** The absolute path of the file that was imported. */
  from: string
  /** The store and its name for the model, such as `ollama llama3.2:3b`; the file's path if it is not in a store. */
  origin: string
  quantization: string | null
  license: string | null
  file_size_bytes: number
  /** The SHA-256 according to the other program, from the name of a blob. Not trusted until the file is hashed. */
  claimed_sha256: string | null
  /** Whether the user wants to share the file with peers. */
  is_shared: boolean
  imported_at: string
  /**
   * The read-only model folder in which a search found the file. The reference to the file is removed when the file is
   * no longer in that folder. Not set if the user imported the file.
   */
  folder?: string
  /** Set if the user specified a registry for the import, and the registry has the file. */
  twin?: RegistryTwin
  /**
   * Set as long as the file's hash differs from the expected one. Contains the actual hash, and the stamp that the file
   * had when it was hashed.
   */
  mismatch?: FileStamp & { file_size_bytes: number; sha256_hash: string }
}

/** Returns the import record of the file at `path`; undefined if there is none or it is invalid. */
export const readImportRecord = (path: string): Promise<ImportRecord | undefined> =>
  readJson(getFilePaths(path).imported, isImportRecord)

export const writeImportRecord = (path: string, record: ImportRecord): Promise<void> =>
  writeWhole(getFilePaths(path).imported, `${JSON.stringify(record, null, 2)}\n`)

/** Deletes the import record, because the file is now shoal's own: it has been repaired or pulled. */
export const forgetImport = (path: string): Promise<void> =>
  rm(getFilePaths(path).imported, { force: true })

function isImportRecord(value: unknown): value is ImportRecord {
  if (typeof value !== 'object' || value === null) return false
  const { format, method, from, claimed_sha256, file_size_bytes } = value as ImportRecord
  return (
    format === 1 &&
    ['reference', 'link', 'copy'].includes(method) &&
    typeof from === 'string' &&
    (claimed_sha256 === null || /^[0-9a-f]{64}$/.test(claimed_sha256)) &&
    Number.isSafeInteger(file_size_bytes)
  )
}
