import type { IndexedModel } from '../packages/registry/src/search/indexed-model.ts'
import { SearchIndex } from '../packages/registry/src/search/search-index.ts'
import type { Bench } from './harness/bench.ts'
import { makeCatalogue } from './relevance/catalogue.ts'
import type { CatalogueModel } from './relevance/catalogue-model.ts'
import { scoreQueries } from './relevance/score-queries.ts'

const minMean = 0.9
const shownQueries = 10

export const bench: Bench = {
  summary: 'how well searches rank models: nDCG@10 of 60 judged queries, at least 0.9 on average',

  async run(_options, report) {
    const models = makeCatalogue()
    const index = new SearchIndex()
    for (const [seq, model] of models.entries()) index.put(toIndexed(model, seq))
    index.settle()
    const queries = scoreQueries(models, (text) =>
      index
        .find({
          text,
          labels: [],
          ranges: [],
          viewer: { username: undefined, seesAll: false },
          sort: 'relevance',
          order: 'desc',
          offset: 0,
          limit: 10,
        })
        .seqs.flatMap((seq) => models[seq]?.name ?? []),
    )
    const mean = queries.reduce((sum, { score }) => sum + score, 0) / queries.length
    report.title(`relevance: ${queries.length} judged queries, ${models.length} models`)
    report.say(`The mean nDCG@10 is ${mean.toFixed(3)}. The queries with the lowest scores:`)
    const worst = queries.toSorted((one, other) => one.score - other.score).slice(0, shownQueries)
    report.table(
      ['query', 'nDCG@10', 'first results'],
      worst.map(({ q, score, found }) => [q, score.toFixed(2), found.slice(0, 3).join(', ')]),
    )
    if (!(mean >= minMean)) throw new Error(`the mean nDCG@10 is lower than ${minMean}`)
  },
}

const toIndexed = (model: CatalogueModel, seq: number): IndexedModel => ({
  seq,
  id: `00000000-0000-7000-8000-${String(seq).padStart(12, '0')}`,
  name: model.name,
  displayName: model.display_name ?? model.name,
  description: model.description,
  owner: model.owner,
  architecture: model.architecture,
  license: model.license,
  tags: model.tags,
  quantizations: [],
  isPublic: true,
  createdAt: '2026-01-01T00:00:00.000Z',
  downloads: model.downloads,
  likes: 0,
  parameterCount: model.parameter_count,
  minFileSizeBytes: null,
  minMemoryBytes: null,
  cacheBytesPerToken: null,
  contextLength: null,
  filesCount: 0,
  totalSizeBytes: 0,
})
