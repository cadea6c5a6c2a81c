import { sql } from 'kysely'

/** A model's download count, read from the counter itself, because `model.downloads` may lag behind by a second. */
export const countedDownloads =
  sql<number>`(select downloads from model_downloads where model_id = model.id)`.as('downloads')
