import { decodePayload } from '../metadata-peer/bencode.ts'
import type { TestRegistry } from './test-registry.ts'

type Parameters = Record<string, string | number | readonly string[]>

/** A tracker's response, decoded. */
export type TrackerAnswer = {
  status: number
  failure: string | undefined
  complete: number
  incomplete: number
  interval: number
  minInterval: number
  /**
   * Peers in compact form, as in `192.0.2.1:6881` or `[…hexadecimal digits]:6881`. Peers in list form are in `list`.
   */
  peers: string[]
  list: { ip: string; port: number; peerId: string | undefined }[]
}

/** Returns 20 bytes, all equal to `number`, as hexadecimal digits. */
export const twenty = (number: number) => Buffer.alloc(20, number).toString('hex')

/**
 * Builds a query in which every byte of an info hash or peer ID is percent-encoded, as in clients' requests. Info
 * hashes and peer IDs are given as hexadecimal digits.
 */
export function trackerQuery(parameters: Parameters): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) =>
      [value].flat().map((one) => `${name}=${escaped(name, String(one))}`),
    )
    .join('&')
}

function escaped(name: string, value: string): string {
  const isBytes = name === 'info_hash' || name === 'peer_id'
  return isBytes ? value.replace(/../g, '%$&') : encodeURIComponent(value)
}

/** Sends an announce with all usual parameters, which a test can override. */
export async function rawAnnounce(
  registry: TestRegistry,
  parameters: Parameters,
  { path = '/announce', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<TrackerAnswer> {
  const counters = { uploaded: 0, downloaded: 0, left: 100 }
  const usual = { peer_id: twenty(1), port: 6_881, ...counters, compact: 1 }
  const query = trackerQuery({ ...usual, ...parameters })
  return trackerAnswer(registry, `${path}?${query}`, headers)
}

export async function trackerAnswer(
  { port }: { port: number },
  path: string,
  headers: Record<string, string> = {},
): Promise<TrackerAnswer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  const bytes = Buffer.from(await response.arrayBuffer())
  const fields = new Map<string, unknown>(
    response.status === 200 ? (decodePayload(bytes) as Map<string, unknown>) : [],
  )
  const { peers = Buffer.alloc(0) } = { peers: fields.get('peers') }
  return {
    status: response.status,
    failure: fields.get('failure reason')?.toString(),
    complete: Number(fields.get('complete')),
    incomplete: Number(fields.get('incomplete')),
    interval: Number(fields.get('interval')),
    minInterval: Number(fields.get('min interval')),
    peers: [
      ...(Buffer.isBuffer(peers) ? unpack(peers, 4) : []),
      ...unpack((fields.get('peers6') as Buffer | undefined) ?? Buffer.alloc(0), 16),
    ].sort(),
    list: Array.isArray(peers) ? peers.map(entry) : [],
  }
}

function unpack(bytes: Buffer, addressLength: 4 | 16): string[] {
  const size = addressLength + 2
  return Array.from({ length: bytes.length / size }, (_, index) => {
    const address = bytes.subarray(index * size, index * size + addressLength)
    const port = bytes.readUInt16BE(index * size + addressLength)
    const text = addressLength === 4 ? address.join('.') : `[${address.toString('hex')}]`
    return `${text}:${port}`
  })
}

function entry(peer: Map<string, Buffer | number>) {
  const peerId = peer.get('peer id')
  return {
    ip: String(peer.get('ip')),
    port: Number(peer.get('port')),
    peerId: Buffer.isBuffer(peerId) ? peerId.toString('hex') : undefined,
  }
}
