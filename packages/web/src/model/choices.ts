import {
  type FileChoice,
  fileChoices,
  findBestFit,
  findFidelity,
  memoryOfMachine,
  runnable,
} from '@shoal/model-file/choices'
import type { ModelFile } from '@shoal/protocol/client'

export type Choice = FileChoice<ModelFile>

/** Lists the choices by size, with companion files last. */
export const listChoices = (files: readonly ModelFile[]): Choice[] =>
  fileChoices(files, (file) => file.file_size_bytes).toSorted(
    (a, b) => Number(a.isCompanion) - Number(b.isCompanion),
  )

export const findBestChoice = (choices: readonly Choice[], memoryGb: number): Choice | undefined =>
  findBestFit(runnable(choices), memoryOfMachine(memoryGb))

/** Whether a file has fewer than three bits per weight. If so, a smaller model with more bits is usually better. */
export const isRough = ({ quantization }: Choice): boolean => findFidelity(quantization) === 'Rough'

export const getMemory = ({ memoryBytes }: Choice): number => memoryBytes
