import type Wire from 'bittorrent-protocol'

export type UploadAllowance = ReturnType<typeof uploadAllowance>

const allowances = new WeakMap<Wire, UploadAllowance>()

/** Whether a request may be answered: always, where nothing limits the connection's torrent. */
export const mayAnswer = (wire: Wire, bytes: number): boolean =>
  allowances.get(wire)?.reserve(bytes) ?? true

/** What may be sent of one torrent, to all its peers together: no block is sent once `limitBytes` have been. */
export function uploadAllowance(limitBytes: number) {
  const wires = new Set<Wire>()
  let sentBytes = 0
  /** Sent, or asked for since: as much or more, since some requests come to nothing. */
  let reservedBytes = 0

  /** Asked for and not yet sent. */
  const bytesUnderway = () =>
    [...wires]
      .flatMap(({ peerRequests }) => peerRequests)
      .reduce((sum, { length }) => sum + length, 0)

  const allowance = {
    sentBytes: () => sentBytes,
    isUsedUp: () => sentBytes >= limitBytes,
    /** To be called for each connection, before it is unchoked. */
    watch(wire: Wire) {
      wires.add(wire)
      allowances.set(wire, allowance)
      wire.once('close', () => wires.delete(wire))
      wire.on('upload', (bytes: number) => {
        sentBytes += bytes
      })
    },
    reserve(bytes: number): boolean {
      if (reservedBytes >= limitBytes) reservedBytes = sentBytes + bytesUnderway()
      if (reservedBytes >= limitBytes) return false
      reservedBytes += bytes
      return true
    },
  }
  return allowance
}
