import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The folder with the demo models in the repository. */
export const shippedModels = join(import.meta.dirname, '../../../../models')

/** A real model of 1 MB. */
export const nanoPath = join(shippedModels, 'shoal-nano/shoal-nano-Q8_0.gguf')

/** Creates a model file at `path` without a record, as if another program had created it. */
export async function putModelFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await copyFile(nanoPath, path)
}
