import { isModelName, suggestModelName } from '@shoal/core/references'
import { getStem } from '@shoal/model-file/choices'
import { misuse } from '../terminal/failure.ts'

type Named = { filename: string; quantization: string }

/** Derives the model name from the filenames, leaving out the quantization and the part number. */
export function defaultModelName(files: readonly Named[]): string {
  const names = [...new Set(files.map(suggestName))]
  const [name = ''] = names
  if (names.length === 1 && isModelName(name)) return name
  throw misuse('The model name cannot be derived from the filenames.', 'Set it with --name.')
}

const suggestName = (file: Named) => suggestModelName({ stem: getStem(file), ...file })
