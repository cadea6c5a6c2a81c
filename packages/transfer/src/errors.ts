/** What can go wrong with a transfer, besides the client's own `ApiError` and `NetworkError`. */

/** Bytes do not have the hash that the registry names, and fetching them again did not help. */
export class VerificationError extends Error {
  override name = 'VerificationError'
  readonly expected: string
  readonly actual: string
  /** The chunk, or undefined where the whole file is meant. */
  readonly chunkIndex: number | undefined
  constructor(
    message: string,
    found: { expected: string; actual: string; chunkIndex?: number | undefined },
  ) {
    super(message)
    this.expected = found.expected
    this.actual = found.actual
    this.chunkIndex = found.chunkIndex
  }
}

/** The disk has too little room. What was fetched before stays. */
export class NoRoomError extends Error {
  override name = 'NoRoomError'
  readonly neededBytes: number
  readonly freeBytes: number
  constructor(directory: string, room: { neededBytes: number; freeBytes: number }) {
    super(`no room in ${directory}: ${room.neededBytes} bytes needed, ${room.freeBytes} free`)
    this.neededBytes = room.neededBytes
    this.freeBytes = room.freeBytes
  }
}

/** Another file stands under the name that the pulled one is to have. */
export class FileInTheWayError extends Error {
  override name = 'FileInTheWayError'
  readonly path: string
  constructor(path: string, why: string) {
    super(`${path} is there already and ${why}`)
    this.path = path
  }
}

/** It is a link, and what it points to is not shoal's: it is neither written nor deleted. */
export class LinkError extends Error {
  override name = 'LinkError'
  readonly path: string
  readonly target: string
  constructor(path: string, target: string) {
    super(`${path} is a link, and ${target}, to which it points, is left alone`)
    this.path = path
    this.target = target
  }
}

/** A file that shoal pulled once is not what it was. */
export class DamagedFileError extends Error {
  override name = 'DamagedFileError'
  readonly path: string
  constructor(path: string) {
    super(`${path} is damaged: it is not what was pulled from the registry`)
    this.path = path
  }
}

/** Somebody else works on the file just now. */
export class FileBusyError extends Error {
  override name = 'FileBusyError'
  readonly path: string
  constructor(path: string) {
    super(`${path} is being pulled`)
    this.path = path
  }
}

/** The file was written to while it was being sent. */
export class FileChangedError extends Error {
  override name = 'FileChangedError'
  readonly path: string
  constructor(path: string) {
    super(`${path} changed while it was being sent`)
    this.path = path
  }
}

/** The bytes of a file are not given, or not taken, though the registry knows the file: `message` says who answered what. */
export class BytesRefusedError extends Error {
  override name = 'BytesRefusedError'
  readonly status: number | undefined
  constructor(message: string, status: number | undefined, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** The registry took all bytes and then refused the file. */
export class RefusedFileError extends Error {
  override name = 'RefusedFileError'
}

/** No record lies beside the file, so nothing says what its bytes should be. */
export class NoRecordError extends Error {
  override name = 'NoRecordError'
  readonly path: string
  constructor(path: string) {
    super(`nothing is known of ${path}: shoal did not pull it`)
    this.path = path
  }
}
