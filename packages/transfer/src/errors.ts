/** The errors of a transfer, in addition to the client's own `ApiError` and `NetworkError`. */
import { AppError, type ErrorDetails } from '@shoal/core/errors'

/**
 * The bytes do not match the hash in the manifest, even after they were downloaded again; or the manifest is
 * inconsistent; or the file has changed on the registry.
 */
export const verificationFailed = (message: string, found: ErrorDetails['verification_failed']) =>
  new AppError('verification_failed', message, found)

/** The disk is too full for the file. The chunks already downloaded are kept. */
export const noRoom = (directory: string, room: ErrorDetails['no_room']) =>
  new AppError(
    'no_room',
    `not enough disk space in ${directory}: ${room.neededBytes} bytes needed, ${room.freeBytes} free`,
    room,
  )

/** A different file already exists at the path of the file to be created. */
export const fileInTheWay = (path: string, why: string) =>
  new AppError('file_in_the_way', `${path} already exists and ${why}`, { path })

/** The path is a link. shoal neither changes nor deletes the target of a link, which may be outside shoal's folders. */
export const linkLeftAlone = (path: string, target: string) =>
  new AppError(
    'is_link',
    `${path} is a link to ${target}; shoal does not change the targets of links`,
    {
      path,
      target,
    },
  )

/**
 * The file can be neither hard-linked nor reflinked into the models folder, for example because the folder is on
 * another file system.
 */
export const cannotLink = (path: string, folder: string) =>
  new AppError(
    'cannot_link',
    `${path} cannot be linked into ${folder}, which is on another file system or does not support hard links`,
    { path },
  )

/** The models folder cannot contain symbolic links. */
export const cannotRefer = (path: string, folder: string) =>
  new AppError(
    'cannot_link',
    `${path} cannot be imported by reference: ${folder} does not allow symbolic links`,
    { path },
  )

/**
 * The hash of a pulled or imported file differs from the one in its record, or from the one in the store from which it
 * was imported.
 */
export const damagedFile = (path: string) =>
  new AppError(
    'damaged_file',
    `${path} is damaged: it has changed since it was pulled or imported`,
    {
      path,
    },
  )

/** The file's lock is held by another operation, usually a pull, in this or another process. */
export const fileBusy = (path: string) =>
  new AppError('file_busy', `${path} is in use by another operation, such as a pull`, { path })

/** The file was modified while it was being uploaded, hashed or imported. */
export const fileChanged = (path: string) =>
  new AppError('file_changed', `${path} changed or was deleted during the operation`, { path })

/**
 * The registry has an entry for the file, but a server refuses to send or accept the file's bytes. `message` identifies
 * the server.
 */
export const bytesRefused = (message: string, status: number | undefined, options?: ErrorOptions) =>
  new AppError('bytes_refused', message, { status }, options)

/** The registry received all bytes and then rejected the file. */
export const fileRefused = (message: string) => new AppError('file_refused', message, {})

/** The file has no record, or its record contains no registry, so the file cannot be repaired. */
export const noRecord = (path: string) =>
  new AppError('no_record', `${path} was not pulled from a registry`, {
    path,
  })
