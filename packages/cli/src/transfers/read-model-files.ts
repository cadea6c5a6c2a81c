/** Reads and checks the files to publish, before anything is created or uploaded. */
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { hasCode } from '@shoal/core/errors'
import { isModelFilename, isReservedName, shellWord } from '@shoal/core/references'
import { type FileLike, fileChoices, getStem, missingParts } from '@shoal/model-file/choices'
import { Failure, misuse } from '../terminal/failure.ts'
import { notReadable } from '../terminal/read-text.ts'
import { formatContext, formatCount, shortList } from '../terminal/units.ts'

export type ModelFileHere = {
  path: string
  filename: string
  sizeBytes: number
  quantization: string
  architecture: string | null
  parameterCount: number | null
  contextLength: number | null
}

export async function readModelFiles(paths: readonly string[]): Promise<ModelFileHere[]> {
  const names = new Set(paths.map((path) => basename(path).toLowerCase()))
  if (names.size < paths.length) {
    throw misuse(
      'Two of the files have the same name, or names that differ only in case. Filenames in a model must be unique.',
    )
  }
  const files: ModelFileHere[] = []
  for (const path of paths) files.push(await readModelFile(path))
  return files
}

async function readModelFile(path: string): Promise<ModelFileHere> {
  const filename = basename(path)
  const found = await stat(path).catch((error: unknown) => notReadable(path, error))
  if (!found.isFile()) throw misuse(`${path} is not a file.`)
  if (!isModelFilename(filename)) {
    throw misuse(
      `${filename} is not a valid name for a published file.`,
      'Use up to 246 characters: letters, digits, spaces or . _ + - ( ). Start with a letter or digit, and end with .gguf.',
    )
  }
  if (isReservedName(filename)) {
    throw misuse(`${filename} is a reserved name on Windows.`, 'Rename the file.')
  }
  const { extractFacts, readGgufFile } = await import('@shoal/model-file')
  const header = await readGgufFile(path).catch((error: unknown) => {
    if (!hasCode(error, 'invalid_gguf')) return notReadable(path, error)
    throw new Failure('failed', `${filename} cannot be read as a GGUF file: ${error.message}.`, {
      hint: 'Nothing was uploaded.',
      cause: error,
    })
  })
  const facts = extractFacts(header, filename)
  return {
    path,
    filename,
    sizeBytes: found.size,
    quantization: facts.quantization,
    architecture: facts.architecture,
    parameterCount: facts.parameter_count,
    contextLength: facts.context_length,
  }
}

/**
 * Throws if parts of a split file would be missing, because an incomplete model cannot run. Parts that have already
 * been published count as present.
 */
export function refuseMissingParts(
  files: readonly ModelFileHere[],
  published: readonly FileLike[],
) {
  const given = new Map(files.map((file): [string, FileLike] => [file.filename, file]))
  const all = [...published.filter(({ filename }) => !given.has(filename)), ...given.values()]
  for (const choice of fileChoices(all, () => 0)) {
    const missing = missingParts(choice)
    const pushed = choice.files.find(({ filename }) => given.has(filename))
    if (missing.length === 0 || !pushed) continue
    const parts =
      missing.length === 1 ? `part ${missing[0]}` : `parts ${shortList(missing.map(String))}`
    throw misuse(
      `${pushed.filename} is one of ${choice.parts} parts, and ${parts} would be missing.`,
      `Pass all parts in one command: shoal push ${shellWord(getStem(pushed))}-*.gguf`,
    )
  }
}

/** Formats as `architecture llama   7.2B   32K context`, without values that the files do not contain. */
export function describeModelFiles(files: readonly ModelFileHere[]): string {
  const found = <K extends keyof ModelFileHere>(key: K) =>
    files.map((file) => file[key]).find((value) => value !== null)
  const architecture = found('architecture')
  const parameters = found('parameterCount')
  const context = found('contextLength')
  return [
    ...(architecture ? [`architecture ${architecture}`] : []),
    ...(parameters ? [formatCount(parameters)] : []),
    ...(context ? [`${formatContext(context)} context`] : []),
  ].join('   ')
}
