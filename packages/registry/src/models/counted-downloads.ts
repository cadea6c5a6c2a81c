import { sql } from 'kysely'

/** A model's download count, read from the counter itself, because `model.downloads` may be a second out of date. */
export const countedDownloads =
  sql<number>`(select downloads from model_downloads where model_id = model.id)`.as('downloads')
