import type { IndexedModel } from '../packages/registry/src/search/indexed-model.ts'
import { SearchIndex } from '../packages/registry/src/search/search-index.ts'
import { sampleModel, sampleQuery } from '../packages/registry/src/search/testing/samples.ts'
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
        .find({ ...sampleQuery, text, sort: 'relevance' })
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

const toIndexed = (model: CatalogueModel, seq: number): IndexedModel =>
  sampleModel(seq, {
    name: model.name,
    displayName: model.display_name ?? model.name,
    description: model.description,
    owner: model.owner,
    architecture: model.architecture,
    license: model.license,
    tags: model.tags,
    downloads: model.downloads,
    parameterCount: model.parameter_count,
  })
