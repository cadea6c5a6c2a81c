/** The bytes on the visitor's disk are no longer those that were hashed. */
export class FileChangedError extends Error {
  override name = 'FileChangedError'
  constructor(filename: string, options?: ErrorOptions) {
    super(`${filename} was changed or moved while it was read`, options)
  }
}

/** A browser refuses to read a file that has changed since it was chosen; an upload of it only says that it broke. */
export async function checkUnchanged(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer()
  } catch (error) {
    throw new FileChangedError(file.name, { cause: error })
  }
}
