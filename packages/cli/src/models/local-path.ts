import { stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { isModelFilename, isModelName } from '@shoal/core/references'
import { isErrno } from '../terminal/errno.ts'
import { Failure, misuse } from '../terminal/failure.ts'

type Options = {
  modelsDirectory: string
  modelName: string
  filenames: readonly string[]
  output?: string
}

/** Where each of a model's files is to stand: among the models, or where `--output` says. */
export async function localPaths({ modelsDirectory, modelName, filenames, output }: Options) {
  const strange = filenames.find((filename) => !isModelFilename(filename))
  if (strange !== undefined || !isModelName(modelName)) {
    throw new Failure('failed', 'The registry names a file that cannot be written safely.')
  }
  if (output === undefined) {
    return filenames.map((filename) => join(modelsDirectory, modelName, filename))
  }
  if (output.endsWith(sep) || output.endsWith('/') || (await isDirectory(output))) {
    return filenames.map((filename) => resolve(output, filename))
  }
  if (filenames.length === 1) return [resolve(output)]
  throw misuse(`The model comes in ${filenames.length} parts: --output has to be a folder.`)
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined
    throw error
  })
  return found?.isDirectory() ?? false
}
