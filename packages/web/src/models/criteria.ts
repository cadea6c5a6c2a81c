import { memoryOfMachine } from '@shoal/model-file/choices'
import type { ModelFilter } from '@shoal/protocol/client'
import { defaultSort, type ModelsSearch, pageSize } from './models-search.ts'

const perBillion = 1e9

/** Returns the filters of a search in the registry's format. */
export function criteriaFrom(search: ModelsSearch): ModelFilter {
  const { q, architecture, license, tag, fits, context, min, max } = search
  return {
    ...(q !== undefined && { q }),
    ...(architecture !== undefined && { architecture }),
    ...(license !== undefined && { license }),
    ...(tag !== undefined && { tag }),
    ...(fits !== undefined && { max_memory_bytes: memoryOfMachine(fits) }),
    ...(context !== undefined && { context_length: context }),
    ...(min !== undefined && { min_parameters: min * perBillion }),
    ...(max !== undefined && { max_parameters: max * perBillion }),
  }
}

export function filterFrom(search: ModelsSearch): ModelFilter {
  const { sort, page = 1 } = search
  return {
    ...criteriaFrom(search),
    sort: sort ?? defaultSort(search),
    limit: pageSize,
    offset: (page - 1) * pageSize,
  }
}
