import { isModelName, suggestModelName } from '@shoal/core/references'
import { getStem } from '@shoal/model-file/choices'
import { misuse } from '../terminal/failure.ts'

type Named = { filename: string; quantization: string }

/** The name that files suggest for their model: the filename without quantization and part. */
export function defaultModelName(files: readonly Named[]): string {
  const names = [...new Set(files.map(suggestName))]
  const [name = ''] = names
  if (names.length === 1 && isModelName(name)) return name
  throw misuse('The files do not say what the model is called.', 'Give it a name with --name.')
}

const suggestName = (file: Named) => suggestModelName({ stem: getStem(file), ...file })
