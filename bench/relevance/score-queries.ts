import type { CatalogueModel } from './catalogue-model.ts'
import { type Grade, gradeModel, judgedQueries } from './judged-queries.ts'

const depth = 10

/**
 * Computes the nDCG@10 of each judged query, from 0 to 1.
 *
 * @param search - returns the names of the first models found, best first; 10 are enough
 */
export function scoreQueries(
  catalogue: readonly CatalogueModel[],
  search: (q: string) => string[],
): { q: string; score: number; found: string[] }[] {
  return judgedQueries.map((query) => {
    const grades = new Map(catalogue.map((model) => [model.name, gradeModel(query, model)]))
    const found = search(query.q).slice(0, depth)
    const ideal = [...grades.values()].sort((one, other) => other - one)
    const score = sumGains(found.map((name) => grades.get(name) ?? 0)) / sumGains(ideal)
    return { q: query.q, score, found }
  })
}

/** Adds up the discounted gains of the first 10 results: (2^grade − 1) / log2(position + 1), with positions from 1. */
function sumGains(grades: readonly Grade[]): number {
  return grades
    .slice(0, depth)
    .reduce<number>((sum, grade, index) => sum + (2 ** grade - 1) / Math.log2(index + 2), 0)
}
