import type Wire from 'bittorrent-protocol'

/** How much of one torrent may be sent, to all its peers together. */
export interface UploadQuota {
  /** Bytes of pieces sent so far. */
  sentBytes(): number
  /** Whether nothing more may be sent. */
  isUsedUp(): boolean
  /** Call it for each connection, before it is unchoked. */
  watch(wire: Wire): void
  /** Whether a request for this many bytes may be answered; if so, they count. */
  reserve(bytes: number): boolean
}

const quotas = new WeakMap<Wire, UploadQuota>()

/** Whether a request may be answered: always, if the connection's torrent has no limit. */
export const mayAnswer = (wire: Wire, bytes: number): boolean =>
  quotas.get(wire)?.reserve(bytes) ?? true

/** No block is sent once `limitBytes` have been. */
export function createUploadQuota(limitBytes: number): UploadQuota {
  const wires = new Set<Wire>()
  let sentBytes = 0
  /** Sent, or requested since: an upper bound, since some requests are cancelled. */
  let reservedBytes = 0

  /** Requested and not yet sent. */
  const bytesUnderway = () =>
    [...wires]
      .flatMap(({ peerRequests }) => peerRequests)
      .reduce((sum, { length }) => sum + length, 0)

  const quota: UploadQuota = {
    sentBytes: () => sentBytes,
    isUsedUp: () => sentBytes >= limitBytes,
    watch(wire) {
      wires.add(wire)
      quotas.set(wire, quota)
      wire.once('close', () => wires.delete(wire))
      wire.on('upload', (bytes: number) => {
        sentBytes += bytes
      })
    },
    reserve(bytes) {
      if (reservedBytes >= limitBytes) reservedBytes = sentBytes + bytesUnderway()
      if (reservedBytes >= limitBytes) return false
      reservedBytes += bytes
      return true
    },
  }
  return quota
}
