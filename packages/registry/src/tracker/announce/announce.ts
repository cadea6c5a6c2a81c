import { invalid } from '../../errors.ts'

/** What a peer says of itself, however it says it. */
export type Announce = {
  /** 40 hexadecimal digits. */
  infoHash: string
  peerId: string
  event: AnnounceEvent
  isSeeder: boolean
}

export const announceEvents = ['started', 'completed', 'stopped', 'paused', 'update'] as const
export type AnnounceEvent = (typeof announceEvents)[number]

/** The least bytes that anybody counts, and the most: 2^64 has 20 digits. */
const byteCount = /^\d{1,20}$/

/** Checks what has been said, each as text with its bytes as characters; throws what is wrong with it. */
export function toAnnounce(getParameter: (name: string) => string | undefined): Announce {
  for (const name of ['uploaded', 'downloaded', 'left']) {
    const count = getParameter(name)
    if (count !== undefined && !byteCount.test(count)) throw invalid(`${name} is no count of bytes`)
  }
  const event = toEvent(getParameter('event') || 'update')
  const left = getParameter('left') ?? (event === 'completed' ? 0 : 1) // who says nothing of it has not all
  return {
    infoHash: twentyBytes('info_hash', getParameter('info_hash')),
    peerId: twentyBytes('peer_id', getParameter('peer_id')),
    event,
    isSeeder: Number(left) === 0,
  }
}

/** The hexadecimal digits of 20 bytes. */
export function twentyBytes(name: string, bytes: string | undefined): string {
  if (bytes === undefined) throw invalid(`${name} is missing`)
  const buffer = Buffer.from(bytes, 'latin1')
  if (buffer.length !== 20 || buffer.toString('latin1') !== bytes) {
    throw invalid(`${name} is not 20 bytes long`)
  }
  return buffer.toString('hex')
}

/** The other way round. */
export const toBinaryString = (hex: string) => Buffer.from(hex, 'hex').toString('latin1')

function toEvent(text: string): AnnounceEvent {
  const event = announceEvents.find((one) => one === text)
  if (!event) throw invalid('event is started, completed, stopped or paused')
  return event
}
