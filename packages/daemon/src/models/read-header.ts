import { hasCode } from '@shoal/core/errors'
import { reasonOfErrno } from '@shoal/files'
import { type GgufHeader, readGgufFile, wholeArrays } from '@shoal/model-file'
import { Fault } from '../errors.ts'
import type { LocalModel } from './local-models.ts'

/**
 * Reads the whole header of a model's file, which is too large to keep in memory. Throws a `Fault` if the file has been
 * deleted or replaced by something else since it was listed.
 */
export async function readHeader({ id, path }: LocalModel): Promise<GgufHeader> {
  return await readGgufFile(path, wholeArrays).catch((error: NodeJS.ErrnoException) => {
    if (!hasCode(error, 'invalid_gguf') && error.syscall === undefined) throw error
    const message = `the file of model ${id} cannot be read: ${reasonOfErrno(error)}`
    throw new Fault('model_unusable', message, { param: 'model' })
  })
}
