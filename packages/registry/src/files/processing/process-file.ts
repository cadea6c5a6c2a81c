import { hasCode } from '@shoal/core/errors'
import {
  extractFacts,
  type FileHashes,
  type GgufFacts,
  parseGguf,
  unpackHashes,
} from '@shoal/model-file'
import { isName, plainLine } from '@shoal/protocol'
import type { ObjectStore, UploadReference } from '../../store/object-store.ts'
import type { BlobRepository } from '../rows/blob-repository.ts'
import type { FileRepository } from '../rows/file-repository.ts'
import { type FileRow, toChunkLayout, toUpload } from '../rows/file-row.ts'

type Dependencies = { files: FileRepository; blobs: BlobRepository; store: ObjectStore }

/** The same limit as for an architecture that a user enters. */
const maxArchitectureLength = 100
const maxDetailLength = 300

export type ProcessedFile =
  | { outcome: 'ready'; hashes: FileHashes; facts: GgufFacts }
  | UnfinishedFile
export type UnfinishedFile =
  | { outcome: 'uploading'; detail: string; uploadId: string | null }
  | { outcome: 'failed'; detail: string }
  | { outcome: 'gone'; detail: string }

/**
 * Checks an upload's stored bytes against its manifest, and reads the file's header. If chunks are wrong, only those
 * chunks are dropped and must be sent again. If the file can never become valid, the outcome is `failed`. `keepLease`
 * is called before wrong chunks are dropped, and throws if this node no longer has the lease.
 */
export async function processFile(
  { files, blobs, store }: Dependencies,
  file: FileRow,
  keepLease: () => Promise<void>,
  signal: AbortSignal,
): Promise<ProcessedFile> {
  if (file.blob_hash !== null) {
    const stored = await blobs.find(file.blob_hash)
    if (!stored || !(await store.hasObject(stored.object_key, stored.size_bytes))) {
      return gone(store, 'the stored bytes that this file shares with other files are gone')
    }
    const { objectKey, hashes } = await blobs.get(file.blob_hash)
    return readHeader(store, objectKey, file, hashes, signal)
  }
  const upload = toUpload(file)
  if (!upload || !(await isFinished(store, upload, file)))
    return gone(store, 'the uploaded bytes are gone')
  const { key } = upload
  const chunkHashes = await files.getManifest(file.id)
  const hashes = await store.hash(key, file.file_size_bytes, {
    declared: { sha256_hash: file.sha256_hash, chunkHashes },
    signal,
  })

  const declared = unpackHashes(chunkHashes, file.file_size_bytes)
  const stored = unpackHashes(hashes.chunkHashes, file.file_size_bytes)
  const bad = declared.filter(({ hash }, index) => stored[index]?.hash !== hash)
  if (bad.length > 0) {
    const indexes = bad.map(({ index }) => index)
    await keepLease()
    const uploadId = await store.reopenUpload(key, toChunkLayout(file), indexes)
    const named = indexes.slice(0, 10).join(', ') + (indexes.length > 10 ? ', …' : '')
    return {
      outcome: 'uploading',
      detail: `stored bytes do not match the manifest; send these chunks again: ${named}`,
      uploadId,
    }
  }
  if (hashes.sha256_hash !== file.sha256_hash) {
    const detail = `the file's SHA-256 is ${hashes.sha256_hash}, but ${file.sha256_hash} was declared`
    return { outcome: 'failed', detail }
  }
  return readHeader(store, key, file, hashes, signal)
}

/** Completes the upload. Returns false if the store has no such upload. */
async function isFinished(
  store: ObjectStore,
  upload: UploadReference,
  file: FileRow,
): Promise<boolean> {
  try {
    await store.finishUpload(upload, toChunkLayout(file))
    return true
  } catch (error) {
    if (hasCode(error, 'not_found')) return false
    throw error
  }
}

/**
 * Returns the result for a file whose bytes are lost. Throws if the whole store is unavailable, since the bytes may
 * still exist in that case.
 */
async function gone(store: ObjectStore, what: string): Promise<ProcessedFile> {
  await store.check()
  return { outcome: 'gone', detail: `${what}: upload the file again` }
}

async function readHeader(
  store: ObjectStore,
  key: string,
  { filename, file_size_bytes }: FileRow,
  hashes: FileHashes,
  signal: AbortSignal,
): Promise<ProcessedFile> {
  const read = async (start: number, length: number) => {
    const size = Math.min(length, file_size_bytes - start)
    const bytes = new Uint8Array(Math.max(0, size))
    if (size <= 0) return bytes
    let got = 0
    for await (const part of store.read(key, { start, size }, signal)) {
      bytes.set(part, got)
      got += part.length
    }
    return bytes
  }
  try {
    const header = await parseGguf(read, file_size_bytes)
    return { outcome: 'ready', hashes, facts: listableFacts(extractFacts(header, filename)) }
  } catch (error) {
    if (!hasCode(error, 'invalid_gguf')) throw error
    return { outcome: 'failed', detail: `not a usable GGUF file: ${formatDetail(error.message)}` }
  }
}

/** Removes an architecture that would be refused if a user entered it, because architectures are indexed and listed. */
function listableFacts(facts: GgufFacts): GgufFacts {
  const architecture = facts.architecture ?? ''
  const isListable = [...architecture].length <= maxArchitectureLength && isName(architecture)
  return { ...facts, architecture: isListable ? architecture : null }
}

/** Limits the length of an error message and removes control characters, because the message may quote the header. */
function formatDetail(message: string): string {
  return plainLine(message.slice(0, maxDetailLength))
}
