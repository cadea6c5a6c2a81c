import type { Connection } from '../database/connect.ts'
import { type ModelList, modelList } from './model-list.ts'
import { type ModelRepository, modelRepository } from './model-repository.ts'
import { type ModelTotals, modelTotals } from './model-totals.ts'

/** The services for models: their rows, the list with search, and the totals. */
export interface Models {
  models: ModelRepository
  list: ModelList
  totals: ModelTotals
}

export function openModels({ db, fullText }: Pick<Connection, 'db' | 'fullText'>): Models {
  return {
    models: modelRepository(db, fullText),
    list: modelList(db, fullText),
    totals: modelTotals(db, fullText),
  }
}
