/** Announces over HTTP (BEP 3, BEP 23, BEP 7), without a BitTorrent client. */
import { type Bencoded, decodeBencode } from '@shoal/model-file'

/** `fetch`, as far as an announce needs it. */
export type TrackerFetch = (
  url: string,
  init: { signal: AbortSignal },
) => Promise<{ ok: boolean; body: AsyncIterable<Uint8Array> | null }>

export type Announce = {
  /** In hexadecimal digits. */
  infoHash: string
  /** 20 ASCII characters. */
  peerId: string
  /** Where we listen for peers. */
  port: number
  leftBytes: number
  event?: 'started' | 'stopped' | undefined
}

export type TrackerResponse = {
  /** Undefined where the tracker does not say when to announce again. */
  intervalMs: number | undefined
  /** Whether others are in the swarm. */
  hasOthers: boolean
  /** Addresses with ports. Not all of them need be in the swarm: a registry names a peer of its own that has metadata only. */
  peers: string[]
}

const requestTimeoutMs = 10_000
const maxPeers = 200
/** 200 peers take 10 KiB where they are not packed. */
const maxResponseBytes = 64 * 1024

/** Rejects where the tracker does not answer, refuses, or answers with something else. */
export async function announceTo(
  tracker: string,
  announce: Announce,
  { fetch, signal }: { fetch: TrackerFetch; signal: AbortSignal },
): Promise<TrackerResponse> {
  const timeout = AbortSignal.timeout(requestTimeoutMs)
  const init = { signal: AbortSignal.any([signal, timeout]) }
  const response = await fetch(announceUrl(tracker, announce), init)
  if (!response.ok || !response.body) throw new Error('the tracker refuses')
  return parseResponse(await readAtMost(response.body, maxResponseBytes), announce.port)
}

function announceUrl(tracker: string, { infoHash, peerId, port, leftBytes, event }: Announce) {
  const query = [
    `info_hash=${infoHash.replace(/../g, '%$&')}`,
    `peer_id=${peerId}`,
    `port=${port}`,
    `uploaded=0&downloaded=0&left=${leftBytes}`,
    'compact=1',
    ...(event ? [`event=${event}`] : []),
  ]
  return `${tracker}${tracker.includes('?') ? '&' : '?'}${query.join('&')}`
}

async function readAtMost(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > maxBytes) throw new Error(`the tracker answered more than ${maxBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Throws for what is no answer to an announce. */
export function parseResponse(bytes: Buffer, ownPort: number): TrackerResponse {
  const content = decodeBencode(bytes)
  if (!(content instanceof Map)) throw new Error('the tracker answered with something else')
  const refusal = content.get('failure reason')
  if (refusal !== undefined) throw new Error(`the tracker refuses: ${String(refusal)}`)
  const seconds = numberIn(content, 'min interval') ?? numberIn(content, 'interval')
  const peers = [...packedPeers(content.get('peers'), 4), ...packedPeers(content.get('peers6'), 16)]
  const complete = numberIn(content, 'complete')
  const incomplete = numberIn(content, 'incomplete')
  const others =
    complete === undefined || incomplete === undefined
      ? peers.filter((peer) => !peer.endsWith(`:${ownPort}`)).length
      : Math.max(complete + incomplete, peers.length) - 1 // we are counted; the registry's own peer is not, and is named
  return {
    intervalMs: seconds && seconds * 1000,
    hasOthers: others > 0,
    peers: peers.slice(0, maxPeers),
  }
}

function numberIn(content: Map<string, Bencoded>, name: string): number | undefined {
  const value = content.get(name)
  return typeof value === 'number' && value >= 0 ? value : undefined
}

/** Each is an address of 4 or 16 bytes, and a port. Trackers that know no packed form are not asked by anybody any more. */
function packedPeers(packed: Bencoded | undefined, addressBytes: 4 | 16): string[] {
  if (!Buffer.isBuffer(packed)) return []
  const entryBytes = addressBytes + 2
  const peers: string[] = []
  for (let at = 0; at + entryBytes <= packed.length; at += entryBytes) {
    const address = packed.subarray(at, at + addressBytes)
    const port = packed.readUInt16BE(at + addressBytes)
    const host =
      addressBytes === 4
        ? address.join('.')
        : `[${address.toString('hex').match(/.{4}/g)?.join(':')}]`
    if (port > 0) peers.push(`${host}:${port}`)
  }
  return peers
}
