import {
  type FileChoice,
  fileChoices,
  findBestFit,
  findFidelity,
  memoryOfMachine,
  memoryWithContext,
  runnable,
  usualCacheBytesPerToken,
} from '@shoal/model-file/choices'
import type { ModelFile, ModelRecord } from '@shoal/protocol/client'

export type Choice = FileChoice<ModelFile>

/** Lists the choices from smallest to largest, with companion files last. */
export const listChoices = (files: readonly ModelFile[]): Choice[] =>
  fileChoices(files, (file) => file.file_size_bytes).toSorted(
    (a, b) => Number(a.isCompanion) - Number(b.isCompanion),
  )

/** Returns copies of the choices, in which `memoryBytes` includes a context of `tokens`. */
export const withContext = (
  choices: readonly Choice[],
  { context_length: maxTokens, cache_bytes_per_token }: ModelRecord,
  tokens: number,
): Choice[] =>
  choices.map((choice) => {
    const bytesPerToken = cache_bytes_per_token ?? usualCacheBytesPerToken(choice.sizeBytes)
    const context = { tokens, maxTokens, bytesPerToken }
    return { ...choice, memoryBytes: memoryWithContext(choice.memoryBytes, context) }
  })

/** Returns the projector for a vision or audio model, preferably with 16-bit floats, which is the usual precision. */
export function findProjector(choices: readonly Choice[]): Choice | undefined {
  const projectors = choices.filter(({ isCompanion }) => isCompanion)
  return projectors.find(({ quantization }) => quantization === 'F16') ?? projectors[0]
}

export const findBestChoice = (choices: readonly Choice[], memoryGb: number): Choice | undefined =>
  findBestFit(runnable(choices), memoryOfMachine(memoryGb))

/** Whether a file has fewer than three bits per weight. If so, a smaller model with more bits is usually better. */
export const isRough = ({ quantization }: Choice): boolean => findFidelity(quantization) === 'Rough'

export const getMemory = ({ memoryBytes }: Choice): number => memoryBytes
