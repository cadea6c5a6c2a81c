/** What can go wrong with a transfer, besides the client's own `ApiError` and `NetworkError`. */
import { AppError, type ErrorDetails } from '@shoal/core/errors'

/** Bytes do not have the hash that the registry names, and fetching them again did not help. */
export const verificationFailed = (message: string, found: ErrorDetails['verification_failed']) =>
  new AppError('verification_failed', message, found)

/** The disk has too little room. What was fetched before stays. */
export const noRoom = (directory: string, room: ErrorDetails['no_room']) =>
  new AppError(
    'no_room',
    `no room in ${directory}: ${room.neededBytes} bytes needed, ${room.freeBytes} free`,
    room,
  )

/** Another file has the name that the pulled one is to have. */
export const fileInTheWay = (path: string, why: string) =>
  new AppError('file_in_the_way', `${path} is there already and ${why}`, { path })

/** It is a link, and what it points to is not shoal's: it is neither written nor deleted. */
export const linkLeftAlone = (path: string, target: string) =>
  new AppError('is_link', `${path} is a link, and ${target}, to which it points, is left alone`, {
    path,
    target,
  })

/** A file that shoal pulled once is not what it was. */
export const damagedFile = (path: string) =>
  new AppError('damaged_file', `${path} is damaged: it is not what was pulled from the registry`, {
    path,
  })

/** The file is being pulled by another process. */
export const fileBusy = (path: string) =>
  new AppError('file_busy', `${path} is being pulled`, { path })

/** The file was written to while it was being sent. */
export const fileChanged = (path: string) =>
  new AppError('file_changed', `${path} changed while it was being sent`, { path })

/** The bytes of a file are not sent, or not accepted, though the registry knows the file: `message` says by which server. */
export const bytesRefused = (message: string, status: number | undefined, options?: ErrorOptions) =>
  new AppError('bytes_refused', message, { status }, options)

/** The registry took all bytes and then refused the file. */
export const fileRefused = (message: string) => new AppError('file_refused', message, {})

/** There is no record beside the file, so nothing says what its bytes should be. */
export const noRecord = (path: string) =>
  new AppError('no_record', `nothing is known of ${path}: shoal did not pull it`, { path })
