/** Sends announces over HTTP (BEP 3, BEP 23, BEP 7), without a BitTorrent client. */
import { type Bencoded, decodeBencode } from '@shoal/model-file'
import { NetworkError } from '@shoal/protocol/client'

/**
 * Sends one announce. Rejects with a `NetworkError` if there is no response, or with the signal's reason if it is
 * aborted.
 */
export type TrackerFetch = (
  url: string,
  signal: AbortSignal,
) => Promise<{ status: number; body: Uint8Array }>

export type AnnounceRequest = {
  /** In hexadecimal digits. */
  infoHash: string
  /** 20 ASCII characters. */
  peerId: string
  /** The port on which we listen for peers. */
  port: number
  leftBytes: number
  event?: 'started' | 'stopped' | undefined
}

export type TrackerResponse = {
  /** Undefined if the tracker does not specify when to announce again. */
  intervalMs: number | undefined
  /** Whether there are other peers in the swarm. */
  hasOthers: boolean
  /** Addresses with ports. Not all of them are members of the swarm: a registry also lists its metadata peer. */
  peers: string[]
}

const requestTimeoutMs = 10_000
const maxPeers = 200

/**
 * Sends an announce and parses the response. Rejects with a `NetworkError` if the tracker does not respond, refuses the
 * announce, or sends an invalid response; rejects with the signal's reason if it is aborted.
 */
export async function announceTo(
  tracker: string,
  announce: AnnounceRequest,
  { fetch, signal }: { fetch: TrackerFetch; signal: AbortSignal },
): Promise<TrackerResponse> {
  const timeout = AbortSignal.timeout(requestTimeoutMs)
  const url = announceUrl(tracker, announce)
  const { status, body } = await fetch(url, AbortSignal.any([signal, timeout]))
  const { host } = new URL(tracker)
  const answer = parseDictionary(body)
  const refusal = answer?.get('failure reason')
  if (refusal !== undefined)
    throw noPeers(host, `the tracker at ${host} refused the announce: ${refusal}`)
  if (status !== 200) throw noPeers(host, `the tracker at ${host} returned status ${status}`)
  if (!answer) {
    const detail = 'its response to an announce is not bencoded'
    throw new NetworkError({ code: 'not_a_registry', reason: 'other_program', host, detail })
  }
  return parseResponse(answer, announce.port)
}

const noPeers = (host: string, detail: string) =>
  new NetworkError({ code: 'unreachable', reason: 'no_peers', host, detail })

function announceUrl(
  tracker: string,
  { infoHash, peerId, port, leftBytes, event }: AnnounceRequest,
) {
  const query = [
    `info_hash=${infoHash.replace(/../g, '%$&')}`,
    `peer_id=${encodeURIComponent(peerId)}`,
    `port=${port}`,
    `uploaded=0&downloaded=0&left=${leftBytes}`,
    'compact=1',
    ...(event ? [`event=${event}`] : []),
  ]
  return `${tracker}${tracker.includes('?') ? '&' : '?'}${query.join('&')}`
}

function parseDictionary(bytes: Uint8Array): Map<string, Bencoded> | undefined {
  try {
    const content = decodeBencode(Buffer.from(bytes))
    return content instanceof Map ? content : undefined
  } catch {
    return undefined // the caller reports it
  }
}

/** Parses a tracker's response for a client that listens on `ownPort`. */
export function parseResponse(content: Map<string, Bencoded>, ownPort: number): TrackerResponse {
  const seconds = readNumber(content, 'min interval') ?? readNumber(content, 'interval')
  const peers = [...packedPeers(content.get('peers'), 4), ...packedPeers(content.get('peers6'), 16)]
  const complete = readNumber(content, 'complete')
  const incomplete = readNumber(content, 'incomplete')
  const others =
    complete === undefined || incomplete === undefined
      ? peers.filter((peer) => !peer.endsWith(`:${ownPort}`)).length
      : Math.max(complete + incomplete, peers.length) - 1 // the counts include us, but not the registry's metadata peer
  return {
    intervalMs: seconds && seconds * 1000,
    hasOthers: others > 0,
    peers: peers.slice(0, maxPeers),
  }
}

function readNumber(content: Map<string, Bencoded>, name: string): number | undefined {
  const value = content.get(name)
  return typeof value === 'number' && value >= 0 ? value : undefined
}

/**
 * Parses peers in the compact form (BEP 23, BEP 7), in which each peer is an address of 4 or 16 bytes and a port.
 * Returns no peers for the older form, a list of dictionaries.
 */
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
