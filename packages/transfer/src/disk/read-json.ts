import { isErrno, readSmallFile } from '@shoal/files'

/** The largest files, the records of files with 10,000 chunks, have less than 500 kB. */
const maxBytes = 16 * 1024 * 1024

/**
 * Reads a small JSON file that shoal has written. Returns undefined if the file is missing or invalid. Rejects if another
 * user has put something else there, such as a pipe.
 */
export async function readJson<T>(
  path: string,
  isValid: (value: unknown) => value is T,
): Promise<T | undefined> {
  const text = await readSmallFile(path, maxBytes).then(String, (error) => {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return ''
    throw error
  })
  try {
    const value: unknown = JSON.parse(text)
    return isValid(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
