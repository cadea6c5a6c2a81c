/** A model's files as what one chooses between: the shards of a split file are one choice. */

import { AppError } from '@shoal/core/errors'
import { isLabel } from '@shoal/core/references'
import { findBestFit, memoryNeeded } from './fit.ts'
import { getShardSet, getStem, parseShardNumbers, withoutExtension } from './shards.ts'

export type FileLike = {
  filename: string
  quantization: string | null
  /** What it adds to the memory of its model; undefined or null if unknown. */
  memory_bytes?: number | null
}

export type FileChoice<F extends FileLike> = {
  /** Written after the colon: `Q4_K_M`, or a name if several files share the quantization. */
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

/** By size, the smallest first. */
export function fileChoices<F extends FileLike>(
  files: readonly F[],
  getSize: (file: F) => number,
): FileChoice<F>[] {
  const choices = [...Map.groupBy(files, getShardSet).values()].map((members) =>
    makeChoice(members as [F, ...F[]], getSize),
  )
  return withLabels(choices).toSorted((a, b) => a.sizeBytes - b.sizeBytes)
}

/** Gives each choice the shortest name that no other has, and that can be written after a colon. */
function withLabels<C extends Omit<FileChoice<FileLike>, 'label'>>(
  choices: C[],
): (C & { label: string })[] {
  const named = choices.map((choice) => ({ choice, labels: makeLabels(choice) }))
  const first = ({ labels }: { labels: string[] }) => labels[0]?.toUpperCase() ?? ''
  for (let isChanged = true; isChanged; ) {
    const groups = Map.groupBy(named, first)
    const unclear = named.filter(
      (one) =>
        one.labels.length > 1 && (groups.get(first(one))?.length !== 1 || !isLabel(first(one))),
    )
    for (const { labels } of unclear) labels.shift()
    isChanged = unclear.length > 0
  }
  return named.map(({ choice, labels: [label = ''] }) => ({ ...choice, label }))
}

/** From the shortest on. */
const makeLabels = ({ quantization, isCompanion, files }: Omit<FileChoice<FileLike>, 'label'>) => [
  ...(isCompanion || quantization === null ? [] : [quantization]),
  ...listFileNames(files[0]).toReversed(),
]

/** A name means several of the choices, and only one may be taken. `labels` tell them apart. */
export const ambiguousChoice = (wanted: string, labels: string[]) =>
  new AppError(
    'ambiguous_choice',
    `there are several files in ${wanted}: name one of ${labels.join(', ')}`,
    { wanted, labels },
  )

type Named = { label: string; quantization: string | null; files: readonly { filename: string }[] }

/** What a choice may be called, and which wins if one text means several choices. */
const kindsOfName: ((choice: Named) => (string | null)[])[] = [
  ({ label }) => [label],
  ({ quantization }) => [quantization],
  ({ files }) => files.flatMap(listFileNames),
]

const spellings = [(text: string) => text, (text: string) => text.toUpperCase()]

/**
 * The choices that `:QUANT` names by label, quantization or filename, spelled exactly so or else in any case. Empty if there are
 * none; several if files share the quantization, or if their names differ from `wanted` only in case.
 */
export function findChoices<C extends Named>(choices: readonly C[], wanted: string): C[] {
  for (const namesOfKind of kindsOfName) {
    for (const spell of spellings) {
      const isWanted = (text: string | null) => text !== null && spell(text) === spell(wanted)
      const found = choices.filter((choice) => namesOfKind(choice).some(isWanted))
      if (found.length > 0) return found
    }
  }
  return []
}

/** Of several choices that one name means the best fit for this memory, or else the smallest. */
export function defaultChoice<C extends FileChoice<FileLike>>(
  found: readonly C[],
  memoryBytes: number,
): C | undefined {
  const whole = runnable(found)
  return findBestFit(whole, memoryBytes) ?? whole[0] ?? found[0]
}

/** What can be run by itself, with all its parts. */
export const runnable = <C extends FileChoice<FileLike>>(choices: readonly C[]): C[] =>
  choices.filter((choice) => !choice.isCompanion && missingParts(choice).length === 0)

/** The numbers, from 1, of the parts that a split file lacks. Empty if it has them all, and if the file is not split. */
export function missingParts({ files, parts }: FileChoice<FileLike>): number[] {
  const here = files.map(getPartNumber)
  return Array.from({ length: parts }, (_, index) => index + 1).filter(
    (part) => !here.includes(part),
  )
}

/** What a file may be called beside its quantization: its filename, that without the extension, and without its part. */
export const listFileNames = (file: { filename: string }): string[] => [
  file.filename,
  withoutExtension(file.filename),
  getStem(file),
]

function makeChoice<F extends FileLike>(members: [F, ...F[]], getSize: (file: F) => number) {
  const files = members.toSorted((a, b) => (a.filename < b.filename ? -1 : 1)) as [F, ...F[]]
  const [first] = files
  const stem = getStem(first)
  const sizeBytes = sum(files.map(getSize))
  const parts = files.map(({ memory_bytes }) => memory_bytes ?? Number.NaN)
  const memory_bytes = parts.some(Number.isNaN) ? null : sum(parts)
  const isCompanion = /(^|[-._ ])mmproj($|[-._ ])/i.test(stem)
  return {
    quantization: first.quantization,
    files,
    parts: getPartCount(first),
    sizeBytes,
    memoryBytes: memoryNeeded({ file_size_bytes: sizeBytes, memory_bytes }),
    isCompanion,
  }
}

const sum = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0)

const getPartNumber = ({ filename }: FileLike): number => parseShardNumbers(filename)?.index ?? 1

const getPartCount = ({ filename }: FileLike): number => parseShardNumbers(filename)?.count ?? 1
