import type Wire from 'bittorrent-protocol'
import { mayAnswer } from './upload-quota.ts'
import { unsentBytes, wireMethods } from './webtorrent-internals.ts'

/**
 * Maximum number of bytes that are being read from disk for one peer, or are waiting to be sent to it. Further requests
 * wait; otherwise, a peer that requests blocks without reading them would fill our memory.
 */
const maxBytesUnderway = 4 * 1024 * 1024
const maxWaiting = 10_000
/** A block is normally 16 KiB long; no client accepts more than 128 KiB. */
const blockBytes = 16 * 1024
const maxBlockBytes = 128 * 1024

type Asked = [index: number, offset: number, length: number]

/**
 * Makes the library answer requests only as fast as the peer reads the blocks, and only within the file's upload quota.
 * Disconnects peers that request too much.
 */
export function guardRequests() {
  const { _onRequest: answer, _onCancel: cancel } = wireMethods
  const waiting = new WeakMap<Wire, Asked[]>()

  function answerWaiting(wire: Wire) {
    const queue = waiting.get(wire) ?? []
    while (queue.length > 0 && bytesUnderway(wire) < maxBytesUnderway) {
      const asked = queue.shift() as Asked
      if (mayAnswer(wire, asked[2])) answer.apply(wire, asked)
    }
  }

  wireMethods._onRequest = function guarded(this: Wire, ...asked: Asked) {
    if (this.type === 'webSeed') return answer.apply(this, asked)
    const queue = waiting.get(this) ?? []
    const [, , length] = asked
    if (length > maxBlockBytes || queue.length >= maxWaiting) return this.destroy()
    queue.push(asked)
    waiting.set(this, queue)
    answerWaiting(this)
  }

  wireMethods._onCancel = function guarded(this: Wire, ...asked: Asked) {
    const queue = waiting.get(this) ?? []
    const place = queue.findIndex((one) => one.every((value, at) => value === asked[at]))
    if (place >= 0) queue.splice(place, 1)
    else cancel.apply(this, asked)
  }

  /** The stream calls this method when it has little data left to send. */
  wireMethods._read = function guarded(this: Wire, done: () => void) {
    answerWaiting(this)
    done()
  }
}

/** Number of bytes that are being read from disk for a peer, or are waiting to be sent. */
function bytesUnderway(wire: Wire): number {
  const beingRead = wire.peerRequests.reduce(
    (sum, { length }) => sum + Math.max(length, blockBytes),
    0,
  )
  return beingRead + unsentBytes(wire)
}
