import { createHash } from 'node:crypto'
import { type Clock, waitingClock } from '@shoal/core/async'
import type { Network } from '@shoal/network/requests'
import BitField from 'bitfield'
import Wire from 'bittorrent-protocol'
import ltDontHave from 'lt_donthave'
import { fetchRange } from './fetch-range.ts'
import { registryName } from './swarm-messages.ts'

type Answer = (error: Error | null, bytes?: Uint8Array) => void

/** How long a piece is not offered after a request for it has failed. */
const pauseMs = 5_000
const requestTimeoutMs = 60_000

type Options = {
  pieces: number
  pieceLength: number
  fileSizeBytes: number
  network: Network
  clock?: Clock
}

/**
 * The registry as a peer that has every piece (BEP 19), so that one scheduler uses both the registry and the other
 * peers. The library's own web seed is not used, because it follows the redirect again for every piece and never
 * abandons a URL that has stopped working.
 */
export class RegistryWire extends Wire {
  readonly #urls: string[]
  readonly #pieceLength: number
  readonly #fileSizeBytes: number
  readonly #network: Network
  readonly #clock: Clock
  readonly #abort = new AbortController()
  /** The pieces that are offered to the library; none before the first call to `offerOnly`. */
  readonly #offered: Uint8Array
  readonly #pausedUntil = new Map<number, number>()
  /** The pieces that are being received. */
  readonly #requested = new Set<number>()
  #isOpen = false

  constructor(
    urls: string[],
    { pieces, pieceLength, fileSizeBytes, network, clock = waitingClock }: Options,
  ) {
    super('webSeed')
    this.#urls = urls
    this.#pieceLength = pieceLength
    this.#fileSizeBytes = fileSizeBytes
    this.#network = network
    this.#clock = clock
    this.#offered = new Uint8Array(pieces)
    this.connId = registryName
    this.setKeepAlive(true)
    this.use(ltDontHave())
    this.once('handshake', (infoHash: string) => {
      this.handshake(infoHash, createHash('sha1').update(registryName).digest('hex'))
      this.bitfield(new BitField(pieces))
      this.#isOpen = true
    })
    this.once('interested', () => this.unchoke())
    this.on('request', (piece: number, offset: number, length: number, answer: Answer) => {
      this.#requested.add(piece)
      this.#get(piece * this.#pieceLength + offset, length)
        .finally(() => this.#requested.delete(piece))
        .then(
          (bytes) => answer(null, bytes),
          (error) => this.#pause(piece, error, answer),
        )
    })
  }

  /**
   * Offers the pieces for which `isWanted` returns true, except those paused after a failed request, and withdraws all
   * others. Pieces that are being received stay offered, because the library would discard their bytes. Must be called
   * often.
   */
  offerOnly(isWanted: (index: number) => boolean) {
    if (!this.#isOpen || this.destroyed) return
    const now = this.#clock.now()
    for (const [index, isOffered] of this.#offered.entries()) {
      const isPaused = (this.#pausedUntil.get(index) ?? 0) >= now
      const shouldOffer = this.#requested.has(index) || (isWanted(index) && !isPaused)
      if (shouldOffer === (isOffered === 1)) continue
      this.#offered[index] = shouldOffer ? 1 : 0
      if (shouldOffer) this.have(index)
      else this.lt_donthave.donthave(index)
    }
  }

  async #get(start: number, length: number): Promise<Uint8Array> {
    const range = { start, length, fileSizeBytes: this.#fileSizeBytes }
    for (let attempt = 1; ; attempt += 1) {
      const [url = ''] = this.#urls
      try {
        const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(requestTimeoutMs)])
        return await fetchRange(this.#network, url, range, signal)
      } catch (error) {
        if (this.#abort.signal.aborted || attempt >= this.#urls.length) throw error
        this.#urls.push(...this.#urls.splice(0, 1)) // URLs expire after a day: try the next one
      }
    }
  }

  #pause(piece: number, error: Error, answer: Answer) {
    if (this.destroyed) return
    this.#pausedUntil.set(piece, this.#clock.now() + pauseMs)
    this.#offered[piece] = 0
    this.lt_donthave.donthave(piece)
    answer(error)
  }

  override destroy() {
    this.#abort.abort(new Error('the registry is no longer used'))
    super.destroy()
  }
}
