import { decodeBencode } from '@shoal/model-file'
import Wire from 'bittorrent-protocol'
import { guardRequests } from './guard-requests.ts'
import {
  checkPrivateNames,
  extensionName,
  sendHandshake,
  wireMethods,
} from './webtorrent-internals.ts'

/** Extensions whose messages are not bencoded. */
const others = new Set(['lt_donthave'])

/**
 * Maximum length of a message. The longest useful messages are a block of 128 KiB and the bitfield of a torrent with
 * many pieces.
 */
const maxMessageBytes = 1024 * 1024
const maxUnaskedBytes = 16 * 1024 * 1024

let isGuarded = false

/** Makes the library disconnect peers that would otherwise crash, hang or overload it. */
export function guardWires() {
  if (isGuarded) return
  checkPrivateNames('wire', new Wire())
  isGuarded = true
  guardLengths()
  guardMessages()
  guardPieces()
  guardFloods()
  guardRequests()
  guardBeginnings()
  beginInPlain()
}

/**
 * Limits the length of messages, because the library keeps each message in memory until it is complete, however long it
 * claims to be.
 */
function guardLengths() {
  const { _onMessageLength: proceed } = wireMethods
  wireMethods._onMessageLength = function guarded(this: Wire, bytes: Uint8Array) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
    if (length > maxMessageBytes && this.type !== 'webSeed') return this.destroy()
    proceed.call(this, bytes)
  }
}

/**
 * Limits blocks that were not requested: they are dropped, but count towards the user's rate limit. A few of them are
 * normal, because they arrive after their requests were canceled.
 */
function guardPieces() {
  const { _onPiece: proceed } = wireMethods
  const unasked = new WeakMap<Wire, number>()
  wireMethods._onPiece = function guarded(this: Wire, index: number, offset: number, bytes) {
    const isAsked = this.requests.some((one) => one.piece === index && one.offset === offset)
    if (!isAsked) {
      const count = (unasked.get(this) ?? 0) + bytes.length
      unasked.set(this, count)
      if (count > maxUnaskedBytes + this.downloaded / 4) return this.destroy()
    }
    proceed.call(this, index, offset, bytes)
  }
}

/**
 * Maximum number of messages without new information that one peer may send. Such a message costs as much to handle as
 * any other, and even a peer that is connected for weeks needs to send fewer of them.
 */
const maxIdleMessages = 10_000
/** The library ignores piece indexes that are equal to or greater than this. */
const maxPieces = 400_000
const requestId = 6
const cancelId = 8
const pieceId = 7
const haveId = 4

/**
 * Disconnects peers that send too many useless messages. Blocks and requests for blocks have their own limits.
 */
function guardFloods() {
  const { _onMessage: proceed, _onKeepAlive: proceedAlive } = wireMethods
  const idle = new WeakMap<Wire, number>()

  function isFlood(wire: Wire) {
    const count = (idle.get(wire) ?? 0) + 1
    idle.set(wire, count)
    return count > maxIdleMessages && wire.type !== 'webSeed'
  }
  wireMethods._onMessage = function guarded(this: Wire, bytes: Uint8Array) {
    const [id = 0] = bytes
    const piece = id === haveId ? parsePiece(bytes) : maxPieces
    const isNewPiece = piece < maxPieces && !this.peerPieces.get(piece)
    const isWork = isNewPiece || id === requestId || id === pieceId || id === cancelId
    if (!isWork && isFlood(this)) return this.destroy()
    proceed.call(this, bytes)
  }
  wireMethods._onKeepAlive = function guarded(this: Wire) {
    if (isFlood(this)) return this.destroy()
    proceedAlive.call(this)
  }
}

/** Returns the piece index in a `have` message, which has 5 bytes. */
const parsePiece = ({ buffer, byteOffset, length }: Uint8Array) =>
  length >= 5 ? new DataView(buffer, byteOffset).getUint32(1) : maxPieces

/**
 * Disconnects peers that send invalid extension messages (BEP 10), because the library's own decoder never returns for
 * some invalid input.
 */
function guardMessages() {
  const { _onExtended: proceed } = wireMethods
  wireMethods._onExtended = function guarded(this: Wire, id: number, bytes: Uint8Array) {
    const name = id === 0 ? 'handshake' : (extensionName(this, id) ?? '')
    if (!others.has(name) && !isBencoded(bytes)) return this.destroy()
    proceed.call(this, id, bytes)
  }
}

/**
 * Disconnects peers that send an invalid key for an encrypted connection (MSE). Otherwise, the library would throw an
 * error that cannot be caught.
 */
function guardBeginnings() {
  const { _write: write, setInfoHash } = wireMethods
  wireMethods._write = function guarded(this: Wire, bytes: Uint8Array, done: () => void) {
    const proceed = () => write.call(this, bytes, done)
    if (this.peerId) proceed()
    else proceedOrDestroy(this, proceed)
  }
  wireMethods.setInfoHash = function guarded(this: Wire, infoHash: string) {
    proceedOrDestroy(this, () => setInfoHash.call(this, infoHash))
  }
}

function proceedOrDestroy(wire: Wire, proceed: () => void) {
  try {
    proceed()
  } catch {
    wire.destroy() // whatever the error is, the peer is disconnected
  }
}

/**
 * Makes outgoing connections start unencrypted, because every client supports this. Incoming connections may be
 * encrypted. The library itself can encrypt either all connections or none.
 */
function beginInPlain() {
  wireMethods.startEncryption = function inPlain(this: Wire) {
    sendHandshake(this)
  }
}

function isBencoded(bytes: Uint8Array): boolean {
  try {
    decodeBencode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    return true
  } catch {
    return false // whatever the error is, the caller disconnects the peer
  }
}
