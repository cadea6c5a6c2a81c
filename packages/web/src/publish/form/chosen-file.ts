import { isModelFilename } from '@shoal/core/references'
import { type FileChoice, fileChoices, getStem, missingFilenames } from '@shoal/model-file/choices'
import { type Facts, readFacts } from './read-facts.ts'

/** A file on the visitor's disk that can be published. */
export type ChosenFile = {
  file: File
  /**
   * A handle with which the page can read the file again after a reload; only in browsers that support file handles.
   */
  handle?: FileSystemFileHandle | undefined
  filename: string
  quantization: string
  /** The filename without its extension and shard number. */
  stem: string
  facts: Facts
}

export type RefusedFile = { filename: string; reason: string }

/** Reads the header of a file on the visitor's disk. Returns a `RefusedFile` if the file cannot be published. */
export async function readChosen(
  file: File,
  handle?: FileSystemFileHandle,
): Promise<ChosenFile | RefusedFile> {
  const filename = file.name
  if (!/\.gguf$/i.test(filename)) return { filename, reason: 'the filename does not end in .gguf' }
  if (!isModelFilename(filename)) {
    return {
      filename,
      reason:
        'the filename must start with a letter or digit, end in .gguf, have at most 246 characters, and contain only A-Z, a-z, 0-9, spaces and the characters - . _ + ( )',
    }
  }
  const facts = await readFacts(file)
  if (typeof facts === 'string') return { filename, reason: facts }
  return {
    file,
    handle,
    filename,
    quantization: facts.quantization,
    stem: getStem({ filename }),
    facts,
  }
}

export const isChosen = (read: ChosenFile | RefusedFile): read is ChosenFile => 'facts' in read

export type ChosenChoice = FileChoice<ChosenFile> & {
  /** If the file is split, the filenames of the shards that the visitor has not chosen. */
  missing: string[]
}

/** Groups the files into choices, as on the model's page: the shards of a split file form one choice. */
export const choicesAmong = (files: readonly ChosenFile[]): ChosenChoice[] =>
  fileChoices(files, ({ file }) => file.size).map((choice) => ({
    ...choice,
    missing: missingFilenames(choice),
  }))
