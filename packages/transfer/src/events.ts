/** What a transfer reports while it runs. Whoever shows it (command line, daemon, browser) draws these. */

/** `isPeer`: somebody else than the registry and its store. */
export type SourceShare = { name: string; bytes: number; isPeer: boolean }

export type Speed = {
  bytesPerSecond: number
  /** Undefined while nothing arrives. */
  secondsLeft: number | undefined
}

/** A wait that the other side asked for, or that a lost connection forces. */
export type WaitingEvent = { type: 'waiting'; seconds: number; reason: string }

/** `bytesDone` never runs backwards within a pull; what had to be fetched again is caught up first. */
export type PullEvent =
  /** What a former run left is read and checked again. */
  | { type: 'checking'; bytesDone: number; bytesTotal: number }
  /** So much of what was here is good. */
  | { type: 'resumed'; bytes: number }
  /** The journal of a former run is of no use; whatever bytes are good are kept all the same. */
  | { type: 'starting-over'; reason: string }
  | ({
      type: 'progress'
      bytesDone: number
      bytesTotal: number
      sources: SourceShare[]
    } & Speed)
  /** A chunk did not have its hash. It is fetched again, from elsewhere where there is an elsewhere. */
  | { type: 'bad-chunk'; index: number; source: string }
  /** Nobody but the registry is asked from here on. */
  | { type: 'without-peers'; reason: string }
  | WaitingEvent
  /** All bytes are here; their SHA-256 is not known yet. */
  | { type: 'verifying' }
  | { type: 'done' }

export type PushEvent =
  | { type: 'hashing'; bytesDone: number; bytesTotal: number }
  /** The registry holds so much of the file from before. */
  | { type: 'resumed'; bytes: number }
  | ({ type: 'uploading'; bytesDone: number; bytesTotal: number } & Speed)
  /** The registry hashes and reads the file; how far it is, is not known. */
  | { type: 'processing'; bytesDone: number; bytesTotal: number }
  /** A chunk arrived damaged. It is sent again. */
  | { type: 'bad-chunk'; index: number }
  | WaitingEvent
  | { type: 'done' }
