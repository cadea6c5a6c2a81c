/** The bytes on the visitor's disk are no longer those that were hashed. */
export class FileChangedError extends Error {
  override name = 'FileChangedError'
  constructor(filename: string, options?: ErrorOptions) {
    super(`${filename} was changed or moved while it was read`, options)
  }
}
