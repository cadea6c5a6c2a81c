/** A model's files as what one chooses between: the shards of a split file are one choice. */

import { memoryNeeded } from './fit.ts'

export type FileLike = {
  filename: string
  quantization: string | null
  /** What it adds to the memory of its model; nothing or null where that is not known. */
  memory_bytes?: number | null
}

export type FileChoice<F extends FileLike> = {
  /** What stands behind the colon: `Q4_K_M`, or a name where the quantization does not tell files apart. */
  label: string
  quantization: string | null
  /** Shards in their order; one file otherwise. */
  files: [F, ...F[]]
  /** How many files there should be, as their names say. */
  parts: number
  sizeBytes: number
  /** To run it with one conversation. */
  memoryBytes: number
  /** A vision or sound projector: it goes with a model, and is never one. */
  isCompanion: boolean
}

const extension = /\.gguf$/i
const shardSuffix = /-(\d{5})-of-(\d{5})$/i

/** By size, the smallest first. */
export function fileChoices<F extends FileLike>(
  files: readonly F[],
  sizeOf: (file: F) => number,
): FileChoice<F>[] {
  const choices = [...Map.groupBy(files, setOf).values()].map((members) =>
    choiceOf(members as [F, ...F[]], sizeOf),
  )
  const timesUsed = new Map<string, number>()
  for (const { label } of choices) timesUsed.set(label, (timesUsed.get(label) ?? 0) + 1)
  return choices
    .map((choice) =>
      timesUsed.get(choice.label) === 1 ? choice : { ...choice, label: stemOf(choice.files[0]) },
    )
    .toSorted((a, b) => a.sizeBytes - b.sizeBytes)
}

/** What was named stands for more than one of the choices. */
export class AmbiguousChoiceError extends Error {
  override name = 'AmbiguousChoiceError'
  readonly wanted: string
  /** Names that tell them apart. */
  readonly labels: string[]
  constructor(wanted: string, labels: string[]) {
    super(`there are several files in ${wanted}: name one of ${labels.join(', ')}`)
    this.wanted = wanted
    this.labels = labels
  }
}

/**
 * What somebody names with `:QUANT`: a label, a filename or a quantization, in any case. Throws an
 * `AmbiguousChoiceError` where that is not enough.
 */
export function findChoice<C extends FileChoice<FileLike>>(
  choices: readonly C[],
  wanted: string,
): C | undefined {
  const is = (text: string | null) => text?.toUpperCase() === wanted.toUpperCase()
  const named = choices.find(
    ({ label, files }) =>
      is(label) ||
      files.some(({ filename }) => is(filename) || is(filename.replace(extension, ''))),
  )
  if (named) return named
  const alike = choices.filter(({ quantization }) => is(quantization))
  if (alike.length <= 1) return alike[0]
  throw new AmbiguousChoiceError(
    wanted,
    alike.map(({ label }) => label),
  )
}

/** What can be run by itself, with all its parts. */
export const runnable = <C extends FileChoice<FileLike>>(choices: readonly C[]): C[] =>
  choices.filter((choice) => !choice.isCompanion && missingParts(choice).length === 0)

/** The numbers, from 1, of the parts that a split file lacks. Empty where it has them all, and for a file that is not split. */
export function missingParts({ files, parts }: FileChoice<FileLike>): number[] {
  const here = files.map(partOf)
  return Array.from({ length: parts }, (_, index) => index + 1).filter(
    (part) => !here.includes(part),
  )
}

/** The filename without what says which part of a file, or of a set of files, it is. */
export const stemOf = ({ filename }: { filename: string }): string =>
  filename.replace(extension, '').replace(shardSuffix, '')

function choiceOf<F extends FileLike>(members: [F, ...F[]], sizeOf: (file: F) => number) {
  const files = members.toSorted((a, b) => (a.filename < b.filename ? -1 : 1)) as [F, ...F[]]
  const [first] = files
  const stem = stemOf(first)
  const sizeBytes = sumOf(files.map(sizeOf))
  const parts = files.map(({ memory_bytes }) => memory_bytes ?? Number.NaN)
  const memory_bytes = parts.some(Number.isNaN) ? null : sumOf(parts)
  const isCompanion = /(^|[-._ ])mmproj($|[-._ ])/i.test(stem)
  return {
    label: isCompanion || first.quantization === null ? stem : first.quantization,
    quantization: first.quantization,
    files,
    parts: partsOf(first),
    sizeBytes,
    memoryBytes: memoryNeeded({ file_size_bytes: sizeBytes, memory_bytes }),
    isCompanion,
  }
}

const sumOf = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0)

/** One name split into another number of parts is another set. */
const setOf = (file: FileLike): string => `${stemOf(file)} ${partsOf(file)}`

const numbersOf = ({ filename }: FileLike) => shardSuffix.exec(filename.replace(extension, ''))

const partOf = (file: FileLike): number => Number(numbersOf(file)?.[1] ?? 1)

const partsOf = (file: FileLike): number => Number(numbersOf(file)?.[2] ?? 1)
