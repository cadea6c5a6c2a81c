import { memoryOfMachine } from '@shoal/model-file/choices'
import type { ModelFilter } from '@shoal/protocol/client'
import { isMemorySize } from '../prefs.ts'

const sorts = [
  { value: 'relevance', label: 'Best match' },
  { value: 'downloads', label: 'Most pulled' },
  { value: 'likes', label: 'Most liked' },
  { value: 'created_at', label: 'Newest' },
] as const

type Sort = (typeof sorts)[number]['value']

/** Returns the available sort orders. Without search terms, there is no best match. */
export const sortsFor = ({ q }: ModelsSearch) =>
  sorts.filter(({ value }) => value !== 'relevance' || q !== undefined)

export const defaultSort = ({ q }: ModelsSearch): Sort =>
  q === undefined ? 'downloads' : 'relevance'

/** The URL parameters of the model list. */
export type ModelsSearch = {
  q?: string
  architecture?: string
  license?: string
  tag?: string
  /** The memory in which the model must fit, in GB. */
  fits?: number
  sort?: Sort
  /** The first page is 1. */
  page?: number
}

export const pageSize = 20

export function readModelsSearch(given: Record<string, unknown>): ModelsSearch {
  const text = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  const search: ModelsSearch = {}
  for (const name of ['q', 'architecture', 'license', 'tag'] as const) {
    const value = text(given[name])
    if (value) search[name] = value
  }
  const sort = sortsFor(search).find(({ value }) => value === given.sort)?.value
  if (sort && sort !== defaultSort(search)) search.sort = sort
  if (isMemorySize(Number(given.fits))) search.fits = Number(given.fits)
  const page = Number(given.page)
  if (Number.isInteger(page) && page > 1) search.page = page
  return search
}

export const hasFilter = ({ q, architecture, license, tag, fits }: ModelsSearch): boolean =>
  [q, architecture, license, tag, fits].some((value) => value !== undefined)

export function filterFrom(search: ModelsSearch): ModelFilter {
  const { q, architecture, license, tag, fits, sort, page = 1 } = search
  return {
    ...(q !== undefined && { q }),
    ...(architecture !== undefined && { architecture }),
    ...(license !== undefined && { license }),
    ...(tag !== undefined && { tag: [tag] }),
    ...(fits !== undefined && { max_memory_bytes: memoryOfMachine(fits) }),
    sort: sort ?? defaultSort(search),
    limit: pageSize,
    offset: (page - 1) * pageSize,
  }
}
