import type { ChunkManifest } from '@shoal/model-file'
import type { RegistryClient } from '@shoal/protocol/client'
import type { Retrier } from '../retrier.ts'
import type { PushPort } from './push-port.ts'

export type BlobPush = {
  client: RegistryClient
  /** The name (its slug) or id of an existing model. */
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
  /** The registry has registered the file under this id. */
  | { type: 'started'; fileId: string }
  /** Bytes that the registry already had. */
  | { type: 'resumed'; bytes: number }
  /**
   * `bytesHere`: bytes that the registry should have by now. `bytesSent`: bytes sent, including
   * those that had to be sent again.
   */
  | { type: 'sent'; bytesHere: number; bytesSent: number }
  /** The registry has all bytes, and hashes and reads the file. Its progress is unknown. */
  | { type: 'processing' }
  /** A chunk arrived damaged. It is sent again. */
  | { type: 'bad-chunk'; index: number }
