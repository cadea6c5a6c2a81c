import { invalid } from '../../errors.ts'

/** The contents of an announce, sent over either HTTP or WebSocket. */
export type Announce = {
  /** 40 hexadecimal digits. */
  infoHash: string
  peerId: string
  event: AnnounceEvent
  isSeeder: boolean
}

export const announceEvents = ['started', 'completed', 'stopped', 'paused', 'update'] as const
export type AnnounceEvent = (typeof announceEvents)[number]

/** Byte counts are below 2^64, so they have at most 20 digits. */
const byteCount = /^\d{1,20}$/

/**
 * Validates the values of an announce, given as text with one character per byte. Throws for the first invalid value.
 */
export function toAnnounce(getParameter: (name: string) => string | undefined): Announce {
  for (const name of ['uploaded', 'downloaded', 'left']) {
    const count = getParameter(name)
    if (count !== undefined && !byteCount.test(count))
      throw invalid(`${name} is not a number of bytes`)
  }
  const event = toEvent(getParameter('event') || 'update')
  // A peer that does not send `left` is assumed to be incomplete, unless it has just completed the download.
  const left = getParameter('left') ?? (event === 'completed' ? 0 : 1)
  return {
    infoHash: twentyBytes('info_hash', getParameter('info_hash')),
    peerId: twentyBytes('peer_id', getParameter('peer_id')),
    event,
    isSeeder: Number(left) === 0,
  }
}

/** Converts a 20-byte parameter into hexadecimal digits. */
export function twentyBytes(name: string, bytes: string | undefined): string {
  if (bytes === undefined) throw invalid(`${name} is missing`)
  const buffer = Buffer.from(bytes, 'latin1')
  if (buffer.length !== 20 || buffer.toString('latin1') !== bytes) {
    throw invalid(`${name} is not 20 bytes long`)
  }
  return buffer.toString('hex')
}

/** The inverse of `twentyBytes`. */
export const toBinaryString = (hex: string) => Buffer.from(hex, 'hex').toString('latin1')

function toEvent(text: string): AnnounceEvent {
  const event = announceEvents.find((one) => one === text)
  if (!event) throw invalid('event must be started, completed, stopped or paused')
  return event
}
