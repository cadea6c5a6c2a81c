import { decodeBencode } from '@shoal/model-file'
import Wire from 'bittorrent-protocol'

/** Their messages are no bencoded values. */
const others = new Set(['lt_donthave'])

let isGuarded = false

/**
 * Cuts off peers that send what is not bencoded where it has to be: the library's own decoder never returns from some of it
 * (`l-3:e`). All extension messages (BEP 10) pass here.
 */
export function guardWires() {
  if (isGuarded) return
  isGuarded = true
  const { _onExtended: proceed } = Wire.prototype
  Wire.prototype._onExtended = function guarded(this: Wire, id: number, bytes: Uint8Array) {
    const name = id === 0 ? 'handshake' : (this.extendedMapping[id] ?? '')
    if (!others.has(name) && !isBencoded(bytes)) return this.destroy()
    proceed.call(this, id, bytes)
  }
}

function isBencoded(bytes: Uint8Array): boolean {
  try {
    decodeBencode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    return true
  } catch {
    return false // whatever it is: the peer goes
  }
}
