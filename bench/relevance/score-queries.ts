import { makeCatalogue } from './catalogue.ts'
import type { CatalogueModel } from './catalogue-model.ts'
import { type Grade, gradeModel, type JudgedQuery, judgedQueries } from './judged-queries.ts'

const depth = 10

export type Scores = { mean: number; queries: { q: string; score: number; found: string[] }[] }

/**
 * Computes the nDCG@10 of each judged query, and the mean over all queries. All results are from 0 to 1.
 *
 * @param search - returns the names of the first models found, best first; 10 are enough
 */
export async function scoreQueries(
  search: (q: string) => Promise<string[]>,
  queries: readonly JudgedQuery[] = judgedQueries,
  catalogue: readonly CatalogueModel[] = makeCatalogue(),
): Promise<Scores> {
  const scored: Scores['queries'] = []
  for (const query of queries) {
    const grades = new Map(catalogue.map((model) => [model.name, gradeModel(query, model)]))
    const found = (await search(query.q)).slice(0, depth)
    if (new Set(found).size < found.length) throw new Error(`${query.q}: a model was found twice`)
    const gained = found.map((name) => {
      const grade = grades.get(name)
      if (grade === undefined) throw new Error(`${query.q}: ${name} is not in the catalogue`)
      return grade
    })
    scored.push({ q: query.q, score: scoreOrder(gained, [...grades.values()]), found })
  }
  const total = scored.reduce((sum, { score }) => sum + score, 0)
  return { mean: total / scored.length, queries: scored }
}

/**
 * Computes the nDCG@10 of results with the grades `found`. `all` contains the grades of all models that could be found.
 */
export function scoreOrder(found: readonly Grade[], all: readonly Grade[]): number {
  const ideal = [...all].sort((one, other) => other - one)
  const most = sumGains(ideal)
  if (most === 0) throw new Error('nothing is relevant, so no order is better than another')
  return sumGains(found) / most
}

/** Adds up the discounted gains of the first 10 results: (2^grade − 1) / log2(position + 1), with positions from 1. */
function sumGains(grades: readonly Grade[]): number {
  return grades
    .slice(0, depth)
    .reduce<number>((sum, grade, index) => sum + (2 ** grade - 1) / Math.log2(index + 2), 0)
}
