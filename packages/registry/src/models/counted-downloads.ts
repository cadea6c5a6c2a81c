import { sql } from 'kysely'

/** A model's downloads: the counter's own number, where `model.downloads` may be a second older. */
export const countedDownloads =
  sql<number>`(select downloads from model_downloads where model_id = model.id)`.as('downloads')
