import { invalid } from '../../errors.ts'
import { type Announce, toAnnounce } from './announce.ts'
import { type RawQuery, single } from './raw-query.ts'

/** An announce over HTTP (BEP 3, 23). */
export type HttpAnnounce = Announce & {
  port: number
  /** Maximum number of peers to return. */
  count: number
  isCompact: boolean
  /** Whether to return peer IDs. The compact form never contains them. */
  hasPeerIds: boolean
}

const defaultCount = 50
const maxCount = 200

export function readHttpAnnounce(query: RawQuery): HttpAnnounce {
  const getParameter = (name: string) => single(query, name)
  return {
    ...toAnnounce(getParameter),
    port: readPort(getParameter('port')),
    count: readCount(getParameter('numwant')),
    isCompact: getParameter('compact') === '1',
    hasPeerIds: getParameter('no_peer_id') !== '1',
  }
}

/**
 * Reads the port. Ports below 1024 are refused, so that an announce cannot make other peers connect to a system
 * service.
 */
function readPort(text: string | undefined): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text ?? '') || port < 1_024 || port > 65_535) {
    throw invalid('port must be a number from 1024 to 65535')
  }
  return port
}

/** Reads the number of requested peers. Some clients send -1 to request the default number. */
function readCount(text: string | undefined): number {
  if (text === undefined || text === '') return defaultCount
  if (!/^-?\d{1,10}$/.test(text)) throw invalid('numwant must be a number')
  const count = Number(text)
  return count < 0 ? defaultCount : Math.min(count, maxCount)
}
