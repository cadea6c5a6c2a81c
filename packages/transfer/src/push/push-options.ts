import type { ChunkManifest } from '@shoal/model-file'
import type { RegistryClient } from '@shoal/protocol/client'
import type { Retrier } from '../retrier.ts'
import type { PushPort } from './push-port.ts'

export type BlobPush = {
  client: RegistryClient
  /** The name (its slug) or ID of an existing model. */
  modelName: string
  /** The filename on the registry. */
  filename: string
  manifest: ChunkManifest
  port: PushPort
  retrier: Retrier
  signal: AbortSignal
  report: (event: BlobPushEvent) => void
}

export type BlobPushEvent =
  /** The registry has an entry for the file, with this ID. `chunkSize` is the size of every chunk but the last. */
  | { type: 'started'; fileId: string; chunkSize: number }
  /** Bytes that the registry already had. */
  | { type: 'resumed'; bytes: number }
  /**
   * `bytesHere` is the number of bytes that the registry should have by now. `bytesSent` is the number of bytes sent,
   * including those that had to be sent again.
   */
  | { type: 'sent'; bytesHere: number; bytesSent: number }
  /** The registry has all bytes, and is hashing and reading the file. The progress of this step is unknown. */
  | { type: 'processing' }
  /** A chunk arrived damaged and will be sent again. */
  | { type: 'bad-chunk'; index: number }

/** A push whose hashes may not be known yet. */
export type UnhashedPush = Omit<BlobPush, 'manifest'>
