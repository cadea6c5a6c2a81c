import { contextSizes, isMemorySize, usualContextTokens } from '../prefs.ts'

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
  /** The model must have all of these tags. */
  tag?: string[]
  /** The memory in which the model must fit, in GB. */
  fits?: number
  /** The context length, in tokens, that must fit in memory with the model; undefined for the usual length. */
  context?: number
  /** The range of the number of parameters, in billions. */
  min?: number
  max?: number
  sort?: Sort
  /** The first page is 1. */
  page?: number
}

export const pageSize = 20

/** The limits offered for the number of parameters, in billions. */
export const parameterSizes = [0.5, 1, 2, 4, 8, 15, 35, 75, 150] as const
/** Maximum number of tags that the registry accepts in a search. */
const maxTags = 16

export function readModelsSearch(given: Record<string, unknown>): ModelsSearch {
  const text = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  const search: ModelsSearch = {}
  for (const name of ['q', 'architecture', 'license'] as const) {
    const value = text([given[name]].flat()[0])
    if (value) search[name] = value
  }
  const tags = [...new Set([given.tag].flat().map(text))].filter((tag) => tag !== '')
  if (tags.length > 0) search.tag = tags.slice(0, maxTags)
  const sort = sortsFor(search).find(({ value }) => value === given.sort)?.value
  if (sort && sort !== defaultSort(search)) search.sort = sort
  if (isMemorySize(Number(given.fits))) {
    search.fits = Number(given.fits)
    const context = contextSizes.find((size) => size === Number(given.context))
    if (context !== undefined && context !== usualContextTokens) search.context = context
  }
  for (const end of ['min', 'max'] as const) {
    const size = parameterSizes.find((one) => one === Number(given[end]))
    if (size !== undefined) search[end] = size
  }
  const page = Number(given.page)
  if (Number.isInteger(page) && page > 1) search.page = page
  return search
}

export const hasFilter = ({ page: _, sort: __, ...filters }: ModelsSearch): boolean =>
  Object.values(filters).some((value) => value !== undefined)
