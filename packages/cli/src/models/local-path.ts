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

/** Returns the path for each file of a model: in the models folder, or as given by `--output`. */
export async function localPaths({ modelsDirectory, modelName, filenames, output }: Options) {
  const strange = filenames.find((filename) => !isModelFilename(filename))
  if (strange !== undefined || !isModelName(modelName)) {
    throw new Failure(
      'failed',
      'The registry returned a filename or model name that is not safe to use in a path.',
    )
  }
  if (output === undefined) {
    return filenames.map((filename) => join(modelsDirectory, modelName, filename))
  }
  if (output.endsWith(sep) || output.endsWith('/') || (await isDirectory(output))) {
    return filenames.map((filename) => resolve(output, filename))
  }
  if (filenames.length === 1) return [resolve(output)]
  throw misuse(
    `The model has ${filenames.length} parts, so --output must be an existing folder or end in /.`,
  )
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined
    throw error
  })
  return found?.isDirectory() ?? false
}
