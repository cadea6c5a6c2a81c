import { packedAddress } from '@shoal/core/addresses'
import { type Bencodable, encodeBencode } from '@shoal/model-file'
import type { SwarmCounts } from '../../swarm/swarm.ts'
import { toBinaryString } from './announce.ts'

/** A peer's address, as returned to a particular client. */
export type PeerAddress = { address: string; port: number; peerId?: string | undefined }

type Answer = { counts: SwarmCounts; peers: PeerAddress[]; intervalSeconds: number }

const minIntervalSeconds = 60

/**
 * Encodes the response to an announce. Peers are returned as a list of dictionaries (BEP 3), or in compact form (BEP
 * 23, 7).
 */
export function announceAnswer(
  { counts, peers, intervalSeconds }: Answer,
  format: { isCompact: boolean; hasPeerIds: boolean },
): Buffer {
  return encodeBencode({
    complete: counts.complete,
    incomplete: counts.incomplete,
    interval: intervalSeconds,
    'min interval': Math.min(minIntervalSeconds, intervalSeconds),
    ...(format.isCompact ? packed(peers) : { peers: listed(peers, format.hasPeerIds) }),
  })
}

/** Encodes peers in compact form: IPv4 in `peers`, IPv6 in `peers6`. */
function packed(peers: PeerAddress[]): { [key: string]: Bencodable } {
  let ipv4 = ''
  let ipv6 = ''
  for (const { address, port } of peers) {
    const packedPort = String.fromCharCode(port >> 8, port & 0xff)
    if (address.includes(':')) ipv6 += packedAddress(address) + packedPort
    else ipv4 += packedAddress(address) + packedPort
  }
  return ipv6 === '' ? { peers: ipv4 } : { peers: ipv4, peers6: ipv6 }
}

function listed(peers: PeerAddress[], hasPeerIds: boolean): Bencodable {
  return peers.map(({ address, port, peerId }) => ({
    ip: address,
    port,
    ...(hasPeerIds && peerId && { 'peer id': toBinaryString(peerId) }),
  }))
}

/** Encodes the response to a scrape (BEP 48). */
export function scrapeAnswer(files: Map<string, SwarmCounts>, intervalSeconds: number): Buffer {
  return encodeBencode({
    files: Object.fromEntries(
      Array.from(files, ([infoHash, { complete, incomplete, completed }]) => [
        toBinaryString(infoHash),
        { complete, downloaded: completed, incomplete },
      ]),
    ),
    flags: { min_request_interval: Math.min(minIntervalSeconds, intervalSeconds) },
  })
}

/** Encodes the reason why a request failed. Clients show the reason to their users. */
export function failureAnswer(reason: string): Buffer {
  return encodeBencode({ 'failure reason': reason })
}
