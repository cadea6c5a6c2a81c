import { ruleOfThumb } from './memory.ts'

/** A file as a registry lists it. One of before there were estimates says nothing of memory. */
type FileOfRegistry = { file_size_bytes: number; memory_bytes?: number | null }

/** Bytes to run a file with one conversation: as the registry says, else by its size. */
export const memoryNeeded = ({ file_size_bytes, memory_bytes }: FileOfRegistry): number =>
  memory_bytes ?? ruleOfThumb(file_size_bytes)

const shareForModels = 0.85

/** Bytes that models may take of a machine's memory: the rest is for its system and for other programs. */
export const memoryForModels = (machineBytes: number): number =>
  Math.floor(machineBytes * shareForModels)

/** The same for what people say of their machine: “16 GB” are 16 GiB. */
export const memoryOfMachine = (gigabytes: number): number => memoryForModels(gigabytes * 1024 ** 3)

/** F32, F16 and BF16 are originals: good to make other files from, seldom the one to run. */
const isOverEightBits = (label: string): boolean =>
  /(^|[-._])(BF16|F16|F32|F64)($|[-._])/i.test(label)

type Weighed = {
  label: string
  sizeBytes: number
  /** What it needs to run. */
  memoryBytes: number
}

/** The largest file of up to 8 bits a weight that fits; an original only where there is nothing else. */
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
