/** The unpacked program of a release, with its description in `release.json`. */
import { lstat, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { isErrno } from '@shoal/files'
import { parseArchiveName } from '../format/index.ts'

/**
 * This file is in the root folder of each archive, and of the program in the Debian package and the container image.
 */
const descriptionName = 'release.json'

export type Program = {
  /** The folder with `bin/shoal`. */
  folder: string
  /** `shoal-<version>-<platform>`, the name of the folder in the archive. */
  name: string
  version: string
  platform: string
  /** The modification time of all files, in seconds since 1970. */
  timeSeconds: number
  /** The paths of all files in the folder that belong to the program. */
  files: string[]
  /** The total size of all files. The archive is smaller. */
  sizeBytes: number
}

type Description = {
  version: string
  platform: string
  time_seconds: number
  size_bytes: number
  files: string[]
}

/** Writes the description of a program that consists of all files in the folder. */
export async function describeProgram(
  folder: string,
  { version, platform, timeSeconds }: Pick<Program, 'version' | 'platform' | 'timeSeconds'>,
): Promise<void> {
  const files = await listFiles(folder)
  const sizes = await Promise.all(files.map(async (file) => (await lstat(join(folder, file))).size))
  const description: Description = {
    version,
    platform,
    time_seconds: timeSeconds,
    size_bytes: sizes.reduce((sum, size) => sum + size, 0),
    files: [...files, descriptionName].toSorted(),
  }
  await writeFile(join(folder, descriptionName), `${JSON.stringify(description, null, 1)}\n`)
}

/** Returns the paths of all files in the folder, in the same order on all machines. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'))
    .toSorted()
}

/**
 * Reads the description of the program in the folder. Returns undefined if there is none.
 * @throws if the description is invalid
 */
export async function readProgram(folder: string): Promise<Program | undefined> {
  const path = join(folder, descriptionName)
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  })
  if (text === undefined) return undefined
  const { version, platform, time_seconds, size_bytes, files } = JSON.parse(text) as Description
  const name = `shoal-${version}-${platform}`
  const isComplete =
    parseArchiveName(`${name}.tar.gz`) !== undefined &&
    [time_seconds, size_bytes].every(Number.isSafeInteger) &&
    Array.isArray(files) &&
    files.every(isInside) &&
    files.includes('bin/shoal')
  if (!isComplete) throw new Error(`${path} does not describe a release of shoal`)
  return {
    folder,
    name,
    version,
    platform,
    files,
    timeSeconds: time_seconds,
    sizeBytes: size_bytes,
  }
}

/** Files outside the folder must not be packed, even if the description lists them. */
const isInside = (file: unknown) =>
  typeof file === 'string' &&
  !file.includes('\0') &&
  file.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
