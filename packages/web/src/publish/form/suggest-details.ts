import { suggestModelName } from '@shoal/core/references'
import type { ChosenFile } from './chosen-file.ts'
import type { Details } from './details.ts'

const empty: Details = {
  name: '',
  displayName: '',
  license: '',
  tags: '',
  description: '',
  readme: '',
  isPublic: true,
}

/** Suggests details from the files' headers, which the visitor can edit. */
export function suggestDetails(files: readonly ChosenFile[]): Details {
  const main = mainFile(files)
  if (!main) return empty
  const { name, license, metadata } = main.facts
  const tags = metadata['general.tags']
  const words = Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
  return {
    ...empty,
    name: suggestModelName(main),
    displayName: name ?? '',
    license: license ?? '',
    tags: words.slice(0, 8).join(', '),
  }
}

/** Summarizes in one line what the files say about the model. */
export function factsAmong(files: readonly ChosenFile[]) {
  const main = mainFile(files)
  if (!main) return undefined
  const set = files.filter((file) => file.stem === main.stem)
  const parameters = set.reduce((sum, { facts }) => sum + (facts.parameter_count ?? 0), 0)
  const { architecture, context_length } = main.facts
  const quantizations = [...new Set(files.map(({ quantization }) => quantization))]
  return { architecture, parameters, context_length, quantizations }
}

/** Projectors and adapters say little about the model, and the first shard says the most. */
function mainFile(files: readonly ChosenFile[]): ChosenFile | undefined {
  const sorted = files.toSorted((a, b) => (a.filename < b.filename ? -1 : 1))
  const isMain = ({ facts: { role } }: ChosenFile) => role === 'model' || role === 'shard'
  return sorted.find(isMain) ?? sorted[0]
}
