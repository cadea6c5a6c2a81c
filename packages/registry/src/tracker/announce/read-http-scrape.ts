import { invalid } from '../../errors.ts'
import { twentyBytes } from './announce.ts'
import type { RawQuery } from './raw-query.ts'

/** Maximum number of torrents in a scrape. It is limited, because each torrent is looked up in the database. */
export const maxScrapedTorrents = 50

/** Reads the info hashes from a scrape over HTTP (BEP 48). A scrape of all torrents is not supported. */
export function readHttpScrape(query: RawQuery): string[] {
  const hashes = query.get('info_hash') ?? []
  if (hashes.length === 0) throw invalid('info_hash is missing')
  if (hashes.length > maxScrapedTorrents)
    throw invalid(`a scrape may contain at most ${maxScrapedTorrents} torrents`)
  return hashes.map((hash) => twentyBytes('info_hash', hash))
}
