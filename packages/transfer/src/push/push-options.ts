import type { ChunkManifest } from '@shoal/model-file'
import type { RegistryClient } from '@shoal/protocol/client'
import type { Retrier } from '../retrier.ts'
import type { PushPort } from './push-port.ts'

export type BlobPush = {
  client: RegistryClient
  /** The model's name (its slug) or id. The model is there already. */
  modelName: string
  /** The name under which the registry lists the file. */
  filename: string
  manifest: ChunkManifest
  port: PushPort
  retrier: Retrier
  signal: AbortSignal
  report: (event: BlobPushEvent) => void
}

export type BlobPushEvent =
  /** The registry knows the file by this id from now on. */
  | { type: 'started'; fileId: string }
  /** The registry holds so much of the file from before. */
  | { type: 'resumed'; bytes: number }
  /** The registry has `bytesHere` of the file, as far as one can see from here; `bytesSent` have gone out, some of them in vain. */
  | { type: 'sent'; bytesHere: number; bytesSent: number }
  /** The registry knows that all is there: it hashes and reads the file; how far it is, is not known. */
  | { type: 'processing' }
  /** A chunk arrived damaged. It is sent again. */
  | { type: 'bad-chunk'; index: number }
