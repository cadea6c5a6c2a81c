import type Wire from 'bittorrent-protocol'

/** What may be sent of one torrent, to all its peers together. */
export interface UploadQuota {
  /** Bytes of pieces that were sent so far. */
  sentBytes(): number
  /** Whether nothing more may be sent. */
  isUsedUp(): boolean
  /** To be called for each connection, before it is unchoked. */
  watch(wire: Wire): void
  /** Whether a request for so many bytes may be answered; if so, they count. */
  reserve(bytes: number): boolean
}

const quotas = new WeakMap<Wire, UploadQuota>()

/** Whether a request may be answered: always, where nothing limits the connection's torrent. */
export const mayAnswer = (wire: Wire, bytes: number): boolean =>
  quotas.get(wire)?.reserve(bytes) ?? true

/** No block is sent once `limitBytes` have been. */
export function createUploadQuota(limitBytes: number): UploadQuota {
  const wires = new Set<Wire>()
  let sentBytes = 0
  /** Sent, or asked for since: as much or more, since some requests come to nothing. */
  let reservedBytes = 0

  /** Asked for and not yet sent. */
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
