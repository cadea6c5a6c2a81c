/** The events that a transfer reports while it runs. The CLI, the daemon and the browser display them. */

/** The bytes received from one sender. `isPeer` is false for the registry and its store. */
export type SourceShare = { name: string; bytes: number; isPeer: boolean }

export type Speed = {
  bytesPerSecond: number
  /** Undefined while no bytes are being transferred. */
  secondsLeft: number | undefined
}

/**
 * The transfer is waiting: because the server asked it to, because a request failed, or because another pull of the
 * same file is in progress. In the last case, `seconds` is 0.
 */
export type WaitingEvent = { type: 'waiting'; seconds: number; reason: string }

/**
 * In the `progress` events of a pull, `bytesDone` never decreases; it stays the same while bytes are downloaded again.
 */
export type PullEvent =
  /** Chunks from an earlier run are being read and verified. */
  | { type: 'checking'; bytesDone: number; bytesTotal: number }
  /** Some bytes from an earlier run are still good and are not downloaded again. */
  | { type: 'resumed'; bytes: number }
  /** The journal of an earlier run cannot be used. Bytes that are still good are kept. */
  | { type: 'starting-over'; reason: string }
  | ({
      type: 'progress'
      bytesDone: number
      bytesTotal: number
      sources: SourceShare[]
    } & Speed)
  /**
   * A chunk did not match its hash. It is downloaded again, from another source if there is one.
   */
  | { type: 'bad-chunk'; index: number; source: string }
  /** Peers are no longer used, for example because the swarm could not be joined or left. */
  | { type: 'without-peers'; reason: string }
  | WaitingEvent
  /** All bytes are on disk; the SHA-256 of the whole file is still being computed. */
  | { type: 'verifying' }
  | { type: 'done' }

export type PushEvent =
  | { type: 'hashing'; bytesDone: number; bytesTotal: number }
  /** The registry already has some of the bytes. */
  | { type: 'resumed'; bytes: number }
  | ({ type: 'uploading'; bytesDone: number; bytesTotal: number } & Speed)
  /** The registry is hashing and reading the file. The progress of this step is unknown. */
  | { type: 'processing'; bytesDone: number; bytesTotal: number }
  /** A chunk arrived damaged. It is sent again. */
  | { type: 'bad-chunk'; index: number }
  | WaitingEvent
  | { type: 'done' }
