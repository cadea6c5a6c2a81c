import { decodeBencode } from '@shoal/model-file'
import Wire from 'bittorrent-protocol'

/** Their messages are no bencoded values. */
const others = new Set(['lt_donthave'])

let isGuarded = false

/** Cuts off peers from which the library would fall or hang, and lets it speak with all the others. */
export function guardWires() {
  if (isGuarded) return
  isGuarded = true
  guardMessages()
  guardBeginnings()
  beginInPlain()
}

/** The library's own decoder never returns from some of what is not bencoded (`l-3:e`). All extension messages (BEP 10) pass here. */
function guardMessages() {
  const { _onExtended: proceed } = Wire.prototype
  Wire.prototype._onExtended = function guarded(this: Wire, id: number, bytes: Uint8Array) {
    const name = id === 0 ? 'handshake' : (this.extendedMapping[id] ?? '')
    if (!others.has(name) && !isBencoded(bytes)) return this.destroy()
    proceed.call(this, id, bytes)
  }
}

/** A key of an encrypted connection (MSE) that is none makes the library throw, where nobody can catch it. */
function guardBeginnings() {
  const { _write: write, setInfoHash } = Wire.prototype
  Wire.prototype._write = function guarded(this: Wire, bytes: Uint8Array, done: () => void) {
    const proceed = () => write.call(this, bytes, done)
    if (this.peerId) proceed()
    else proceedOrDestroy(this, proceed)
  }
  Wire.prototype.setInfoHash = function guarded(this: Wire, infoHash: string) {
    proceedOrDestroy(this, () => setInfoHash.call(this, infoHash))
  }
}

function proceedOrDestroy(wire: Wire, proceed: () => void) {
  try {
    proceed()
  } catch {
    wire.destroy() // whatever it is: the peer goes
  }
}

/**
 * Those who connect to us may encrypt; to others we speak first, in plain, which everybody understands. The library can only do
 * both or neither. By this event it sends its handshake.
 */
function beginInPlain() {
  Wire.prototype.startEncryption = function inPlain(this: Wire) {
    this.emit('crypto-handshake')
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
