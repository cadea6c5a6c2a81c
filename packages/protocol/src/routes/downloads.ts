/** The endpoints that download files. */

export const getDownload = {
  method: 'GET',
  url: '/v1/files/:model_id/download/:file_id',
  marker: 'chunk_hashes',
} as const
export const getTorrent = { method: 'GET', url: '/v1/files/:model_id/torrent/:file_id' } as const
export const getTorrentByToken = {
  method: 'GET',
  url: '/v1/files/:model_id/torrent/:file_id/:token',
  isAnonymous: true,
} as const
export const getChunk = { method: 'GET', url: '/v1/files/chunks/:chunk_hash' } as const
export const getChunkByToken = {
  method: 'GET',
  url: '/v1/files/chunks/:chunk_hash/:token',
  isAnonymous: true,
} as const
