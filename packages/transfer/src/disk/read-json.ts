import { readFile } from 'node:fs/promises'
import { isErrno } from '@shoal/files'

/** Reads a small JSON file that shoal has written. Returns undefined if the file is missing or invalid. */
export async function readJson<T>(
  path: string,
  isValid: (value: unknown) => value is T,
): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch((error) => {
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
