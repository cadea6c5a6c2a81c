import { sql } from 'kysely'

/**
 * The number of a model's downloads, read from the counter itself, because `model.downloads` may be a second out of
 * date.
 */
export const countedDownloads =
  sql<number>`(select downloads from model_downloads where model_id = model.id)`.as('downloads')
