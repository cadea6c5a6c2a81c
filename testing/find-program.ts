import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The folder of system programs, which may be missing from an ordinary user's PATH. */
const systemFolder = '/usr/sbin'

export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), systemFolder]
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
