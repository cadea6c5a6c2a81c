import {
  type FileChoice,
  fileChoices,
  findBestFit,
  findChoice,
  missingParts,
  runnable,
} from '@shoal/model-file/choices'
import { filenamePattern } from '@shoal/protocol'
import type { ModelFile } from '@shoal/protocol/client'
import { Fault } from '../errors.ts'
import type { Reference } from './reference.ts'

const safeFilename = new RegExp(filenamePattern)

/** The parts of the file that was named, or of the one that suits so much memory best. */
export function chooseFiles(
  files: readonly ModelFile[],
  { name, quantization }: Reference,
  memoryBytes: number,
): ModelFile[] {
  const choices = fileChoices(files, (file) => file.file_size_bytes)
  if (choices.length === 0) throw notFound(`${name} has no files that are ready`)
  const chosen =
    quantization === undefined
      ? bestOf(runnable(choices), name, memoryBytes)
      : findChoice(choices, quantization)
  if (!chosen) {
    const labels = choices.map(({ label }) => `${name}:${label}`).join(', ')
    throw notFound(`model '${name}:${quantization}' not found, there is ${labels}`)
  }
  if (missingParts(chosen).length > 0) {
    throw notFound(`of the ${chosen.parts} parts of ${name} only ${chosen.files.length} are ready`)
  }
  // A strange registry could send anything.
  if (!chosen.files.every(({ filename }) => safeFilename.test(filename))) {
    throw new Fault(502, 'the registry names a file that cannot be written safely')
  }
  return chosen.files
}

function bestOf(choices: FileChoice<ModelFile>[], name: string, memoryBytes: number) {
  const best = findBestFit(choices, memoryBytes)
  const [smallest] = choices
  if (best) return best
  if (!smallest) throw notFound(`${name} has no file that is complete and runs by itself`)
  const needed = (smallest.memoryBytes / 1e9).toFixed(1)
  throw new Fault(
    400,
    `no file of ${name} fits in the memory here: the smallest needs ${needed} GB, and comes when it is named, ${name}:${smallest.label}`,
    { code: 'no_fit', param: 'model' },
  )
}

const notFound = (message: string) =>
  new Fault(404, message, { code: 'model_not_found', param: 'model' })
