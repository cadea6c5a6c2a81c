import { AppError } from '@shoal/core/errors'

/** The bytes on the visitor's disk are no longer those that were hashed. */
export const fileChanged = (path: string, options?: ErrorOptions) =>
  new AppError(
    'file_changed',
    `${path} was changed or moved while it was being read`,
    { path },
    options,
  )
