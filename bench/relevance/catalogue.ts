/**
 * A catalogue of real models, and of invented ones that resemble published models. It is used to judge the order of
 * search results, and is the same in every run.
 */
import type { CatalogueModel } from './catalogue-model.ts'
import { publishAgain } from './publish-again.ts'
import { readReleases } from './read-releases.ts'
import { tuneForThemes } from './tune-for-themes.ts'

export function makeCatalogue(): CatalogueModel[] {
  const releases = readReleases()
  const models = [...releases, ...publishAgain(releases), ...tuneForThemes(releases)]
  const byName = new Map<string, CatalogueModel>()
  for (const model of models) if (!byName.has(model.name)) byName.set(model.name, model)
  return [...byName.values()]
}
