import { suggestModelName } from '@shoal/core/references'
import type { ChosenFile } from './chosen-file.ts'
import type { Details } from './details.ts'

export const emptyDetails: Details = {
  name: '',
  displayName: '',
  license: '',
  tags: '',
  description: '',
  readme: '',
  isPublic: true,
}

/** Suggests details based on the names and headers of the files. The visitor can edit them. */
export function suggestDetails(files: readonly ChosenFile[]): Details {
  const main = mainFile(files)
  if (!main) return emptyDetails
  const { name, license, metadata } = main.facts
  const tags = metadata['general.tags']
  const words = Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
  return {
    ...emptyDetails,
    name: suggestModelName(main),
    displayName: name ?? '',
    license: license ?? '',
    tags: words.slice(0, 8).join(', '),
  }
}

/** Summarizes what the files' headers state about the model. */
export function factsAmong(files: readonly ChosenFile[]) {
  const main = mainFile(files)
  if (!main) return undefined
  const set = files.filter((file) => file.stem === main.stem)
  const parameters = set.reduce((sum, { facts }) => sum + (facts.parameter_count ?? 0), 0)
  const { architecture, context_length } = main.facts
  const quantizations = [...new Set(files.map(({ quantization }) => quantization))]
  return { architecture, parameters, context_length, quantizations }
}

/**
 * Returns the file whose header best describes the model: the first model file or shard, or the first file if there are
 * only projectors and adapters.
 */
function mainFile(files: readonly ChosenFile[]): ChosenFile | undefined {
  const sorted = files.toSorted((a, b) => (a.filename < b.filename ? -1 : 1))
  const isMain = ({ facts: { role } }: ChosenFile) => role === 'model' || role === 'shard'
  return sorted.find(isMain) ?? sorted[0]
}
