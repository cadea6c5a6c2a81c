/** Assigns a command's requests to places, by method and path. A place is a kind of request, such as an announce. */
import type { IncomingMessage } from 'node:http'

/** The places at which requests can be harmed. */
export const places = [
  'api',
  'chunk',
  'start',
  'part',
  'complete',
  'torrent',
  'tracker',
  'web seed',
] as const

export type Place = (typeof places)[number]

/** The columns of the table, with the places that each column covers. */
export const columns = {
  api: { title: 'API call', places: ['api'] },
  chunk: { title: 'Chunk of a pull', places: ['chunk'] },
  push: { title: 'Push', places: ['start', 'part', 'complete'] },
  torrent: { title: 'Torrent', places: ['torrent', 'web seed'] },
  tracker: { title: 'Announce', places: ['tracker'] },
} as const satisfies Record<string, { title: string; places: readonly Place[] }>

export type Column = keyof typeof columns

/** The places' names as printed in the table. */
export const placeTitles: Record<Place, string> = {
  api: 'API call',
  chunk: 'chunk',
  start: 'start',
  part: 'chunk',
  complete: 'complete',
  torrent: '.torrent',
  tracker: 'announce',
  'web seed': 'web seed',
}

/** The size of a piece of the files that the cells pull. */
const pieceBytes = 1024 * 1024

/**
 * Returns the place of a request; undefined for requests that are never harmed, such as a push's requests for the
 * account, the model and the processing state.
 *
 * @param joinsSwarm whether the command also requests single pieces, for a swarm
 */
export function findPlace(
  { method = 'GET', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  joinsSwarm: boolean,
): Place | undefined {
  const { pathname } = new URL(url, 'http://localhost')
  const isBytes = pathname.startsWith('/blobs/') || pathname.startsWith('/v1/files/chunks/')
  if (isBytes && method === 'PUT') return 'part'
  if (isBytes && method === 'GET')
    return joinsSwarm && isPiece(headers.range) ? 'web seed' : 'chunk'
  if (pathname === '/announce') return 'tracker'
  if (pathname.startsWith('/v1/files/') && pathname.includes('/torrent/')) return 'torrent'
  if (method === 'POST' && pathname.endsWith('/files')) return 'start'
  if (method === 'POST' && pathname.endsWith('/complete')) return 'complete'
  const isPull = /^\/v1\/(models(\/[^/]+(\/files)?)?|files\/[^/]+\/download\/[^/]+)$/.test(pathname)
  return method === 'GET' && isPull ? 'api' : undefined
}

/** Whether a request is for a piece or a part of one. A longer range is a chunk, or the missing rest of a chunk. */
function isPiece(range: string | undefined): boolean {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  if (first === undefined || last === undefined) return false
  return Number(last) + 1 - Number(first) <= pieceBytes
}
