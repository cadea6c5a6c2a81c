import { readFile } from 'node:fs/promises'
import { Failure } from '../terminal/failure.ts'

/** Reads a file with a model card. */
export const readCard = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    throw new Failure('not_found', `The model card ${path} cannot be read.`, { cause: error })
  })
