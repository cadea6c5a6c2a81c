import { stat } from 'node:fs/promises'
import { ignoreMissing } from '@shoal/files'
import { type ChunkHashes, hashFileInWorker, packHashes } from '@shoal/model-file'
import type { ModelFile, RegistryClient } from '@shoal/protocol/client'
import { damagedFile, fileInTheWay } from '../errors.ts'
import { readImportRecord } from './import-record.ts'
import { forgetTorrent } from './kept-torrent.ts'
import { type LocalFileRecord, readRecord, writeRecord } from './record.ts'
import { isUnchanged, readStamp } from './stamp.ts'

export type RegistryFile = {
  client: RegistryClient
  modelName: string
  file: ModelFile
  /**
   * Whether the finished file may be shared. By default, an existing setting is kept, including that of an imported
   * file, and a new file may be shared.
   */
  isShared?: boolean | undefined
}

export type Hashed = { chunk_size: number; chunk_hashes: string }

type FinishedOptions = {
  signal: AbortSignal
  onProgress: (bytesDone: number) => void
  /** If set, nothing is written. The result is false if it would have to be recorded whether the file may be shared. */
  isReadOnly?: boolean
}

/** Whether the file is finished, according to its record, and the record need not be changed. Writes nothing. */
export async function isRecorded(path: string, registryFile: RegistryFile): Promise<boolean> {
  const record = await readRecord(path)
  if (record?.sha256_hash !== registryFile.file.sha256_hash) return false
  if (toSharingFields(record, registryFile).without_peers !== record.without_peers) return false
  return (await isUnchanged(path, record).catch(ignoreMissing)) === true
}

/**
 * Whether the file at `path` exists and is `file`. Relies on the record if the file has not been modified since the
 * record was written; otherwise, computes the SHA-256 and, if it matches, writes the record. If the file differs,
 * throws `damaged_file` if its record is that of `file`, and `file_in_the_way` otherwise.
 */
export async function isFinished(
  path: string,
  registryFile: RegistryFile,
  { signal, onProgress, isReadOnly = false }: FinishedOptions,
): Promise<boolean> {
  const { file } = registryFile
  const found = await stat(path).catch(ignoreMissing)
  if (found === undefined) return false
  const record = await readRecord(path)
  const wasFinished = record?.sha256_hash === file.sha256_hash
  if (found.size !== file.file_size_bytes) {
    if (wasFinished) throw damagedFile(path)
    const why = `has ${found.size} bytes; the registry's file has ${file.file_size_bytes}`
    throw fileInTheWay(path, why)
  }
  if (wasFinished && (await isUnchanged(path, record))) {
    const { without_peers: before, ...others } = record
    const now = toSharingFields(record, registryFile)
    if (now.without_peers === before) return true
    if (isReadOnly) return false
    await writeRecord(path, { ...others, ...now })
    return true
  }

  const hashes = await hashFileInWorker(path, { signal, onProgress })
  if (hashes.sha256_hash !== file.sha256_hash) {
    if (wasFinished) throw damagedFile(path)
    throw fileInTheWay(path, "is not the registry's file: its SHA-256 differs")
  }
  if (!isReadOnly) await keepRecord(path, registryFile, toHashed(hashes))
  return true
}

export const toHashed = ({ chunkSize, chunkHashes }: ChunkHashes): Hashed => ({
  chunk_size: chunkSize,
  chunk_hashes: Buffer.from(chunkHashes).toString('base64'),
})

/** Writes the record of the finished file. */
export async function keepRecord(
  path: string,
  registryFile: RegistryFile,
  hashed: Hashed,
): Promise<void> {
  const { client, modelName, file } = registryFile
  const stamp = await readStamp(path)
  const before = await readRecord(path)
  const isSame = before?.sha256_hash === file.sha256_hash // true after a repair, for example
  const imported = await readImportRecord(path)
  const isImportShared = imported === undefined || imported.is_shared
  const record: LocalFileRecord = {
    format: 1,
    registry: client.baseUrl,
    model_id: file.model_id,
    model_name: modelName,
    file_id: file.id,
    filename: file.filename,
    quantization: file.quantization,
    sha256_hash: file.sha256_hash,
    file_size_bytes: file.file_size_bytes,
    ...hashed,
    pulled_at: new Date().toISOString(),
    ...stamp,
    ...toSharingFields(
      isSame ? before : isImportShared ? {} : { without_peers: true },
      registryFile,
    ),
  }
  await forgetTorrent(path) // a torrent saved earlier may belong to a different file
  await writeRecord(path, record)
}

function toSharingFields(
  before: Pick<LocalFileRecord, 'without_peers'>,
  { isShared }: RegistryFile,
): Pick<LocalFileRecord, 'without_peers'> {
  const isWithoutPeers = isShared === undefined ? before.without_peers === true : !isShared
  return isWithoutPeers ? { without_peers: true } : {}
}

export function packChunks(chunks: readonly { index: number; sha256: string; size: number }[]) {
  const packed = packHashes(
    chunks.map(({ index, sha256, size }) => ({ index, size, hash: sha256 })),
  )
  return Buffer.from(packed).toString('base64')
}
