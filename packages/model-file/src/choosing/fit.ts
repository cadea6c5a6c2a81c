import { ruleOfThumb } from './memory.ts'

/** A file as listed by a registry. Older records have no memory estimate. */
type FileOfRegistry = { file_size_bytes: number; memory_bytes?: number | null }

/**
 * Memory needed to run a file with one conversation: the registry's estimate or, if there is none, an estimate based on
 * the file size.
 */
export const memoryNeeded = ({ file_size_bytes, memory_bytes }: FileOfRegistry): number =>
  memory_bytes ?? ruleOfThumb(file_size_bytes)

const shareForModels = 0.85

/**
 * Returns the memory that models may use on a machine. The rest is reserved for the operating system and other
 * programs.
 */
export const memoryForModels = (machineBytes: number): number =>
  Math.floor(machineBytes * shareForModels)

/** Memory that the operating system and a browser with a few open pages usually use on a laptop. */
const usuallyTakenBytes = 4 * 1024 ** 3

/**
 * Returns the memory that models may use on a machine with this advertised memory size. “16 GB” means 16 GiB. Assumes
 * that other programs are running, but that they use at most half of the memory.
 */
export function memoryOfMachine(gigabytes: number): number {
  const machineBytes = gigabytes * 1024 ** 3
  const freeBytes = Math.max(machineBytes - usuallyTakenBytes, machineBytes / 2)
  return Math.min(memoryForModels(machineBytes), Math.floor(freeBytes))
}

/**
 * Whether a label denotes an unquantized file. Such files are useful as a source for quantization, but rarely the best
 * choice to run.
 */
const isOverEightBits = (label: string): boolean =>
  /(^|[-._])(BF16|F16|F32|F64)($|[-._])/i.test(label)

type Weighed = {
  label: string
  sizeBytes: number
  /** Memory needed to run the file. */
  memoryBytes: number
}

/**
 * Returns the largest choice that fits and has at most 8 bits per weight. Considers unquantized files only if there are
 * no others.
 */
export function findBestFit<T extends Weighed>(
  choices: readonly T[],
  availableBytes: number,
): T | undefined {
  const reduced = choices.filter(({ label }) => !isOverEightBits(label))
  return (reduced.length > 0 ? reduced : choices)
    .filter(({ memoryBytes }) => memoryBytes <= availableBytes)
    .reduce<T | undefined>(
      (best, one) => (best && best.sizeBytes >= one.sizeBytes ? best : one),
      undefined,
    )
}
