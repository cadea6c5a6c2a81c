import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
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
    const folder = await followLinks(output)
    return filenames.map((filename) => join(folder, filename))
  }
  if (filenames.length === 1) {
    return [join(await followLinks(dirname(resolve(output))), basename(output))]
  }
  throw misuse(
    `The model has ${filenames.length} parts, so --output must be an existing folder or end in /.`,
  )
}

/** The user may choose a linked folder, although shoal does not write through links of its own accord. */
const followLinks = async (folder: string): Promise<string> =>
  (await unlessMissing(realpath(folder))) ?? resolve(folder)

async function isDirectory(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path)))?.isDirectory() ?? false
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  return await found.catch((error: unknown) => {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  })
}
