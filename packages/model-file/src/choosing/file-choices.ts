/** The choices among a model's files, for downloading or running. All shards of a split file form one choice. */

import { AppError } from '@shoal/core/errors'
import { isLabel } from '@shoal/core/references'
import {
  getShardFilename,
  getShardSet,
  getStem,
  parseShardNumbers,
  withoutExtension,
} from '../gguf/shards.ts'
import { findBestFit, memoryNeeded } from './fit.ts'

export type FileLike = {
  filename: string
  quantization: string | null
  /** The file's contribution to the memory use of its model, in bytes; undefined or null if unknown. */
  memory_bytes?: number | null
}

export type FileChoice<F extends FileLike> = {
  /**
   * The part of a reference after the colon: the quantization, such as `Q4_K_M`, or a name derived from the filename if
   * several files have the same quantization.
   */
  label: string
  quantization: string | null
  /** The shards of a split file, in order, or a single file. */
  files: [F, ...F[]]
  /** The expected number of files, according to the part numbers in the filenames. */
  parts: number
  sizeBytes: number
  /** Memory needed to run this choice with one conversation. */
  memoryBytes: number
  /** Whether this is a vision or audio projector, which cannot run without a model. */
  isCompanion: boolean
}

/** Groups files into choices, sorted by size, smallest first. */
export function fileChoices<F extends FileLike>(
  files: readonly F[],
  getSize: (file: F) => number,
): FileChoice<F>[] {
  const choices = [...Map.groupBy(files, getShardSet).values()].map((members) =>
    makeChoice(members as [F, ...F[]], getSize),
  )
  return withLabels(choices).toSorted((a, b) => a.sizeBytes - b.sizeBytes)
}

/** Labels each choice with the shortest name that is unique and can follow the colon in a reference. */
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

/** Returns the possible labels of a choice, shortest first. */
const makeLabels = ({ quantization, isCompanion, files }: Omit<FileChoice<FileLike>, 'label'>) => [
  ...(isCompanion || quantization === null ? [] : [quantization]),
  ...listFileNames(files[0]).toReversed(),
]

/**
 * Returns the error for a name that matches several choices although only one is allowed. `labels` are the labels of
 * the matching choices.
 */
export const ambiguousChoice = (wanted: string, labels: string[]) =>
  new AppError(
    'ambiguous_choice',
    `${wanted} matches several files: use one of ${labels.join(', ')}`,
    { wanted, labels },
  )

type Named = { label: string; quantization: string | null; files: readonly { filename: string }[] }

/** The kinds of names by which a choice can be found, in order of precedence. */
const kindsOfName: ((choice: Named) => (string | null)[])[] = [
  ({ label }) => [label],
  ({ quantization }) => [quantization],
  ({ files }) => files.flatMap(listFileNames),
]

const spellings = [(text: string) => text, (text: string) => text.toUpperCase()]

/**
 * Returns the choices whose label, quantization or filename is `wanted`, the `:QUANT` part of a reference. Exact
 * matches take precedence over matches that ignore case. Returns several choices if `wanted` is a quantization that
 * they share, or if their names differ from `wanted` only in case. Returns none if nothing matches.
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

/**
 * Returns the default among several choices that match a name. The default is the best fit for `memoryBytes`. If none
 * fits, returns the first runnable choice, which is the smallest. If none is runnable, returns the first choice.
 */
export function defaultChoice<C extends FileChoice<FileLike>>(
  found: readonly C[],
  memoryBytes: number,
): C | undefined {
  const whole = runnable(found)
  return findBestFit(whole, memoryBytes) ?? whole[0] ?? found[0]
}

/** Returns the choices that can run on their own and have all their parts. */
export const runnable = <C extends FileChoice<FileLike>>(choices: readonly C[]): C[] =>
  choices.filter((choice) => !choice.isCompanion && missingParts(choice).length === 0)

/**
 * Returns the part numbers that are missing from a split file, counted from 1. The list is empty if the file is
 * complete or not split.
 */
export function missingParts({ files, parts }: FileChoice<FileLike>): number[] {
  const here = files.map(getPartNumber)
  return Array.from({ length: parts }, (_, index) => index + 1).filter(
    (part) => !here.includes(part),
  )
}

/** Returns the filenames of the parts that are missing from a split file, in order. */
export const missingFilenames = (choice: FileChoice<FileLike>): string[] =>
  missingParts(choice).map((part) => getShardFilename(choice.files[0].filename, part))

/**
 * Returns the names of a file other than its quantization: the filename, the filename without its extension, and the
 * filename without its extension and part number.
 */
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
