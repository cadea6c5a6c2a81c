import { stemOf } from '@shoal/model-file/choices'
import { misuse } from '../terminal/failure.ts'
import { modelNamePattern } from './reference.ts'

type Named = { filename: string; quantization: string }

/** The name that files suggest for their model: the filename without quantization and part. */
export function defaultModelName(files: readonly Named[]): string {
  const names = [...new Set(files.map(nameOf))]
  const [name = ''] = names
  if (names.length === 1 && modelNamePattern.test(name)) return name
  throw misuse('The files do not say what the model is called.', 'Give it a name with --name.')
}

function nameOf({ filename, quantization }: Named): string {
  const stem = stemOf({ filename }).toLowerCase()
  const label = quantization.toLowerCase()
  const bare = stem.endsWith(label) ? stem.slice(0, -label.length) : stem
  return bare.replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
}
