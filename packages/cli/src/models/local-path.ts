import { stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { isModelFilename, isModelName } from '@shoal/core/references'
import { isErrno } from '@shoal/files'
import { Failure, misuse } from '../terminal/failure.ts'

type Options = {
  modelName: string
  filenames: readonly string[]
  /** Finds the model's folder in the models folder. Called only if the files are stored there. */
  findFolder: () => Promise<string>
  output?: string
}

/** Returns the path for each file of a model: in the models folder, or as given by `--output`. */
export async function localPaths({ findFolder, modelName, filenames, output }: Options) {
  const strange = filenames.find((filename) => !isModelFilename(filename))
  if (strange !== undefined || !isModelName(modelName)) {
    throw new Failure(
      'failed',
      'The registry returned a filename or model name that is not safe to use in a path.',
    )
  }
  if (output === undefined) {
    const folder = await findFolder()
    return filenames.map((filename) => join(folder, filename))
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
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  })
  return found?.isDirectory() ?? false
}
