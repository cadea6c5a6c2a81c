import { decodeBencode } from '@shoal/model-file'
import Wire from 'bittorrent-protocol'
import { guardRequests } from './guard-requests.ts'
import {
  checkPrivateNames,
  extensionName,
  sendHandshake,
  wireMethods,
} from './webtorrent-internals.ts'

/** Their messages are not bencoded. */
const others = new Set(['lt_donthave'])

/** The longest useful messages: a block of 128 KiB, and the bitfield of a torrent with many pieces. */
const maxMessageBytes = 1024 * 1024
const maxUnaskedBytes = 16 * 1024 * 1024

let isGuarded = false

/** Disconnects peers that would crash or hang the library; all others may talk to it. */
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

/** A message is collected in memory until it is complete, whatever length it declares. */
function guardLengths() {
  const { _onMessageLength: proceed } = wireMethods
  wireMethods._onMessageLength = function guarded(this: Wire, bytes: Uint8Array) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
    if (length > maxMessageBytes && this.type !== 'webSeed') return this.destroy()
    proceed.call(this, bytes)
  }
}

/**
 * Unrequested blocks count against the user's rate limit, and are dropped. A few arrive after a request was cancelled.
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

/** Messages without news cost as much as others. A peer connected for weeks has reason for fewer. */
const maxIdleMessages = 10_000
/** The library records no piece beyond this. */
const maxPieces = 400_000
const requestId = 6
const cancelId = 8
const pieceId = 7
const haveId = 4

/**
 * Keeps a peer from wasting our time with useless messages. Blocks, and requests for them, have limits of their own.
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

/** Of a `have`, which has 5 bytes. */
const parsePiece = ({ buffer, byteOffset, length }: Uint8Array) =>
  length >= 5 ? new DataView(buffer, byteOffset).getUint32(1) : maxPieces

/**
 * The library's own decoder never returns for some invalid input (`l-3:e`). All extension messages (BEP 10) pass
 * through here.
 */
function guardMessages() {
  const { _onExtended: proceed } = wireMethods
  wireMethods._onExtended = function guarded(this: Wire, id: number, bytes: Uint8Array) {
    const name = id === 0 ? 'handshake' : (extensionName(this, id) ?? '')
    if (!others.has(name) && !isBencoded(bytes)) return this.destroy()
    proceed.call(this, id, bytes)
  }
}

/** An invalid key of an encrypted connection (MSE) makes the library throw where nobody can catch it. */
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
    wire.destroy() // any error: the peer is disconnected
  }
}

/**
 * Incoming connections may be encrypted; on outgoing ones we speak first, in plain text, which every client supports.
 * The library can only do both or neither.
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
    return false // any error: the peer is disconnected
  }
}
