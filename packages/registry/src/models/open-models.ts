import type { Connection } from '../database/connect.ts'
import { openSearch, type Search } from '../search/open-search.ts'
import { type LikeRepository, likeRepository } from './like-repository.ts'
import { type MemberRepository, memberRepository } from './member-repository.ts'
import { type ModelList, modelList } from './model-list.ts'
import { type ModelRepository, modelRepository } from './model-repository.ts'
import { type ModelTotals, modelTotals } from './model-totals.ts'

/** The services for models, their members and their likes: repositories, search, lists and totals. */
export interface Models {
  models: ModelRepository
  members: MemberRepository
  likes: LikeRepository
  search: Search
  list: ModelList
  totals: ModelTotals
}

export function openModels({ db, reader }: Pick<Connection, 'db' | 'reader'>): Models {
  const search = openSearch(reader)
  return {
    models: modelRepository(db),
    members: memberRepository(db),
    likes: likeRepository(db),
    search,
    list: modelList(db, search),
    totals: modelTotals(search),
  }
}
