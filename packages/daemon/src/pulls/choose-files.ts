import { isModelFilename, type Reference } from '@shoal/core/references'
import { formatMemory } from '@shoal/core/units'
import {
  defaultChoice,
  type FileChoice,
  fileChoices,
  findBestFit,
  findChoices,
  missingParts,
  runnable,
} from '@shoal/model-file/choices'
import type { ModelFile } from '@shoal/protocol/client'
import { Fault } from '../errors.ts'

/** Returns all parts of the specified file or, if none is specified, of the file that fits best in this much memory. */
export function chooseFiles(
  files: readonly ModelFile[],
  { name, quantization }: Reference,
  memoryBytes: number,
): FileChoice<ModelFile> {
  if (!(Array.isArray(files) && files.every(isWellFormed))) {
    throw new Fault('registry_failed', "the registry's list of files is malformed")
  }
  const choices = fileChoices(files, (file) => file.file_size_bytes)
  if (choices.length === 0) throw notFound(`${name} has no files that are ready to be pulled`)
  const chosen =
    quantization === undefined
      ? chooseBest(runnable(choices), name, memoryBytes)
      : defaultChoice(findChoices(choices, quantization), memoryBytes)
  if (!chosen) {
    const labels = choices.map(({ label }) => `${name}:${label}`).join(', ')
    throw notFound(`model '${name}:${quantization}' not found; available: ${labels}`)
  }
  if (missingParts(chosen).length > 0) {
    throw notFound(
      `only ${chosen.files.length} of the ${chosen.parts} parts of ${name} are ready to be pulled`,
    )
  }
  // An untrusted registry could send any filename.
  if (!chosen.files.every(({ filename }) => isModelFilename(filename))) {
    throw new Fault(502, 'the registry lists a file whose name is not safe to write to disk')
  }
  return chosen
}

/** Whether the fields have valid values. This must be checked, because the registry may be untrusted. */
function isWellFormed(file: unknown): boolean {
  const { filename, quantization, file_size_bytes, sha256_hash, memory_bytes } = Object(file)
  return (
    typeof filename === 'string' &&
    (typeof quantization === 'string' || quantization === null) &&
    Number.isSafeInteger(file_size_bytes) &&
    file_size_bytes >= 0 &&
    /^[0-9a-f]{64}$/.test(String(sha256_hash)) &&
    Number.isSafeInteger(memory_bytes ?? 0)
  )
}

function chooseBest(choices: FileChoice<ModelFile>[], name: string, memoryBytes: number) {
  const best = findBestFit(choices, memoryBytes)
  const [smallest] = choices
  if (best) return best
  if (!smallest) throw notFound(`${name} has no file that is complete and can be run on its own`)
  const needed = formatMemory(smallest.memoryBytes)
  throw new Fault(
    'no_fit',
    `no file of ${name} fits in this machine's memory: the smallest needs ${needed}; to pull it anyway, specify it as ${name}:${smallest.label}`,
    { param: 'model' },
  )
}

const notFound = (message: string) => new Fault('model_not_found', message, { param: 'model' })
