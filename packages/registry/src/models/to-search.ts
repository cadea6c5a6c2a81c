import { usualContext } from '@shoal/model-file/choices'
import type { ModelQuery } from '@shoal/protocol'
import type { Viewer } from '../accounts/caller.ts'
import type { Label, LabelKind } from '../search/labels.ts'
import type { Range, SearchFilter } from '../search/search-index.ts'

export type ModelFilter = Omit<ModelQuery, 'limit' | 'offset' | 'sort' | 'order'>

/** Whether a query has words or filters, and therefore selects only some models. */
export function isSearch(filter: ModelFilter): boolean {
  const { q, context_length: _, ...others } = filter
  return Boolean(q?.trim()) || Object.values(others).some((value) => value !== undefined)
}

export function toSearch(filter: ModelFilter, viewer: Viewer): SearchFilter {
  const { username, accountId, seesAll } = viewer
  const label = (kind: LabelKind, value: string | undefined): Label[] =>
    value === undefined ? [] : [{ kind, value }]
  const range = (field: Range['field'], bounds: Omit<Range, 'field'>): Range[] =>
    bounds.min === undefined && bounds.max === undefined ? [] : [{ field, ...bounds }]
  const { min_parameters, max_parameters, max_file_size_bytes, max_memory_bytes } = filter
  const { context_length = usualContext } = filter
  return {
    text: filter.q,
    labels: [
      ...label('architecture', filter.architecture),
      ...label('license', filter.license),
      ...label('owner', filter.owner?.toLowerCase()),
      ...label('quantization', filter.quantization),
      ...(filter.tag ?? []).flatMap((value) => label('tag', value)),
    ],
    ranges: [
      ...range('parameterCount', { min: min_parameters, max: max_parameters }),
      ...range('minFileSizeBytes', { max: max_file_size_bytes }),
    ],
    memory:
      max_memory_bytes === undefined
        ? undefined
        : { maxBytes: max_memory_bytes, contextTokens: context_length },
    viewer: { username, memberId: username === undefined ? undefined : accountId, seesAll },
  }
}
