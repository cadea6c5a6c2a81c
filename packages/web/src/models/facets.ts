import type { Facets } from '@shoal/protocol/client'
import type { ModelsSearch } from './models-search.ts'

/** The properties by which the list can be filtered. */
export const facets = [
  { name: 'architecture', title: 'Architecture', of: (all: Facets) => all.architectures },
  { name: 'license', title: 'License', of: (all: Facets) => all.licenses },
  { name: 'tag', title: 'Tags', of: (all: Facets) => all.tags },
] as const

export type Facet = (typeof facets)[number]

export const chosenValues = (search: ModelsSearch, name: Facet['name']): string[] =>
  [search[name] ?? []].flat()

/**
 * Returns the filters that models must match to be counted in a facet. A model has only one architecture and one
 * license, so a newly chosen value replaces the chosen one, and the facet's own filter is ignored. Tags are combined.
 */
export function countedWithin(search: ModelsSearch, name: Facet['name']): ModelsSearch {
  if (name === 'tag') return search
  const { [name]: _, ...others } = search
  return others
}

/**
 * Returns a search with a value added, or removed if it was already chosen. The new search starts on the first page.
 */
export function toggleValue(
  { page: _, ...search }: ModelsSearch,
  name: Facet['name'],
  value: string,
): ModelsSearch {
  const chosen = chosenValues(search, name)
  const { [name]: __, ...others } = search
  if (name !== 'tag') return chosen.includes(value) ? others : { ...others, [name]: value }
  const tags = chosen.includes(value) ? chosen.filter((tag) => tag !== value) : [...chosen, value]
  return tags.length > 0 ? { ...others, tag: tags } : others
}
