import type { Facets, Stats } from '@shoal/protocol'
import type { Viewer } from '../accounts/caller.ts'
import type { LabelCount, LabelKind } from '../search/labels.ts'
import type { Search } from '../search/open-search.ts'
import { type ModelFilter, toSearch } from './to-search.ts'

export interface ModelTotals {
  /** Returns how many matching models there are for each architecture, license, tag and quantization. */
  facets(filter: ModelFilter, viewer: Viewer): Promise<Facets>
  /** Returns totals over all public models. */
  stats(): Promise<Stats>
}

const maxFacetValues = 100
/** Maximum number of parameter counts in the totals. The registry's picture shows one fish per parameter count. */
const maxParameterCounts = 240

export function modelTotals(search: Pick<Search, 'countLabels' | 'total'>): ModelTotals {
  return {
    async facets(filter, viewer) {
      const counts = await search.countLabels(toSearch(filter, viewer))
      return {
        architectures: mostFrequent(counts, 'architecture'),
        licenses: mostFrequent(counts, 'license'),
        tags: mostFrequent(counts, 'tag'),
        quantizations: mostFrequent(counts, 'quantization'),
      }
    },

    async stats() {
      const { parameterCounts, ...totals } = await search.total(maxParameterCounts)
      return { ...totals, parameter_counts: parameterCounts }
    },
  }
}

function mostFrequent(counts: readonly LabelCount[], kind: LabelKind) {
  return counts
    .filter((label) => label.kind === kind)
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, maxFacetValues)
    .map(({ value, count }) => ({ value, count }))
}
