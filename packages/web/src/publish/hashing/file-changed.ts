import { AppError } from '@shoal/core/errors'

/** Creates the error for a file on the visitor's disk that has been changed or moved since it was chosen. */
export const fileChanged = (path: string, options?: ErrorOptions) =>
  new AppError(
    'file_changed',
    `${path} was changed or moved after it was chosen`,
    { path },
    options,
  )
