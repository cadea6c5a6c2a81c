import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A real model of a megabyte, which lies in the repository. */
export const nanoPath = join(
  import.meta.dirname,
  '../../../../models/shoal-nano/shoal-nano-Q8_0.gguf',
)

/** Puts a model file somewhere, as other programs do: nothing but the file. */
export async function putModelFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await copyFile(nanoPath, path)
}
