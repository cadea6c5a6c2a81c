import { hasCode } from '@shoal/core/errors'
import {
  extractFacts,
  type FileHashes,
  type GgufFacts,
  parseGguf,
  unpackHashes,
} from '@shoal/model-file'
import { isName, plainLine } from '@shoal/protocol'
import type { ObjectStore } from '../../store/object-store.ts'
import type { BlobRepository } from '../rows/blob-repository.ts'
import type { FileRepository } from '../rows/file-repository.ts'
import { type FileRow, toChunkLayout } from '../rows/file-row.ts'

type Dependencies = { files: FileRepository; blobs: BlobRepository; store: ObjectStore }

/** The same limit as for an architecture set by hand. */
const maxArchitectureLength = 100
const maxDetailLength = 300

export type ProcessedFile =
  | { outcome: 'ready'; hashes: FileHashes; facts: GgufFacts }
  | { outcome: 'uploading' | 'failed' | 'gone'; detail: string }

/**
 * Checks the stored bytes of an upload against its manifest, and reads its header. If chunks are wrong, only these are
 * dropped, so that only they must be sent again. If the file can never become valid, it fails. `keepLease` throws if
 * this node no longer has the lease; it is called before any change to the store.
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
      return gone(store, 'the stored bytes that this file shares are gone')
    }
    const { objectKey, hashes } = await blobs.get(file.blob_hash)
    return readHeader(store, objectKey, file, hashes)
  }
  const key = file.object_key ?? ''
  if (!(await isFinished(store, key, file))) return gone(store, 'the uploaded bytes are gone')
  const hashes = await store.hash(key, file.file_size_bytes, signal)

  const declared = unpackHashes(await files.getManifest(file.id), file.file_size_bytes)
  const stored = unpackHashes(hashes.chunkHashes, file.file_size_bytes)
  const bad = declared.filter(({ hash }, index) => stored[index]?.hash !== hash)
  if (bad.length > 0) {
    const indexes = bad.map(({ index }) => index)
    await keepLease()
    await store.reopenUpload(key, toChunkLayout(file), indexes)
    const named = indexes.slice(0, 10).join(', ') + (indexes.length > 10 ? ', …' : '')
    return {
      outcome: 'uploading',
      detail: `stored bytes do not match the manifest; send again: chunk ${named}`,
    }
  }
  if (hashes.sha256_hash !== file.sha256_hash) {
    const detail = `the file's SHA-256 is ${hashes.sha256_hash}, but ${file.sha256_hash} was declared`
    return { outcome: 'failed', detail }
  }
  return readHeader(store, key, file, hashes)
}

/** Completes the upload. False if it does not exist. */
async function isFinished(store: ObjectStore, key: string, file: FileRow): Promise<boolean> {
  try {
    await store.finishUpload(key, toChunkLayout(file))
    return true
  } catch (error) {
    if (hasCode(error, 'not_found')) return false
    throw error
  }
}

/** Throws if the whole store is unavailable, since the bytes may then still exist. */
async function gone(store: ObjectStore, what: string): Promise<ProcessedFile> {
  await store.check()
  return { outcome: 'gone', detail: `${what}: upload the file again` }
}

async function readHeader(
  store: ObjectStore,
  key: string,
  { filename, file_size_bytes }: FileRow,
  hashes: FileHashes,
): Promise<ProcessedFile> {
  const read = async (start: number, length: number) => {
    const size = Math.min(length, file_size_bytes - start)
    const bytes = new Uint8Array(Math.max(0, size))
    if (size <= 0) return bytes
    let got = 0
    for await (const part of store.read(key, { start, size })) {
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

/** Facts are listed and indexed: an architecture that could not be set by hand is ignored. */
function listableFacts(facts: GgufFacts): GgufFacts {
  const architecture = facts.architecture ?? ''
  const isListable = [...architecture].length <= maxArchitectureLength && isName(architecture)
  return { ...facts, architecture: isListable ? architecture : null }
}

/** The message may quote the header, including control characters and thousands of characters. */
function formatDetail(message: string): string {
  return plainLine(message.slice(0, maxDetailLength))
}
