import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { getPresetPath } from '@shoal/transfer'
import type { LocalModel } from './local-models.ts'

/** Some file systems record times with a resolution of two seconds, so two changes may have the same time. */
const timePrecisionMs = 2_000

/**
 * Returns a string that changes when one of the model's files or its preset changes, or when a file is added to or
 * removed from their folder. Returns undefined if a file is gone, or if the folder changed so recently that the string
 * might not reflect the next change.
 */
export async function getModelStamp({ path, paths }: LocalModel): Promise<string | undefined> {
  const parent = dirname(path)
  const all = await Promise.all([getPresetPath(parent), parent, ...paths].map(readTimes))
  const [preset, folder, ...files] = all
  const isComplete = files.every((file) => file !== undefined)
  if (!folder || !isComplete || Date.now() - folder.mtimeMs < timePrecisionMs) return undefined
  return [folder, ...files, ...(preset ? [preset] : [])]
    .map(({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`)
    .join(', ')
}

const readTimes = (path: string) => stat(path).catch(() => undefined) // it is gone or cannot be read
