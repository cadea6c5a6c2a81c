import { createHash } from 'node:crypto'
import BitField from 'bitfield'
import Wire from 'bittorrent-protocol'
import ltDontHave from 'lt_donthave'
import { fetch } from 'undici'
import { registryName } from './swarm-messages.ts'

type Answer = (error: Error | null, bytes?: Uint8Array) => void

/** After a request that failed, the piece is offered again so much later. */
const pauseMs = 5_000
const patienceMs = 60_000

/**
 * The registry as a peer that has every piece (BEP 19), so that one scheduler asks both. The library's own web seed follows
 * the redirect anew for every piece and never gives up a URL that has died.
 */
export class RegistryWire extends Wire {
  readonly #urls: string[]
  readonly #pieceLength: number
  readonly #abort = new AbortController()
  /** What the other side is told that we have; nothing before `offerOnly`. */
  readonly #offered: Uint8Array
  readonly #pausedUntil = new Map<number, number>()
  #isOpen = false

  constructor(urls: string[], { pieces, pieceLength }: { pieces: number; pieceLength: number }) {
    super('webSeed')
    this.#urls = urls
    this.#pieceLength = pieceLength
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
      this.#get(piece * this.#pieceLength + offset, length).then(
        (bytes) => answer(null, bytes),
        (error) => this.#pause(piece, error, answer),
      )
    })
  }

  /** To be called often: offers the pieces that are to be asked of the registry, and takes back the others. */
  offerOnly(isWanted: (index: number) => boolean) {
    if (!this.#isOpen || this.destroyed) return
    const now = performance.now()
    for (const [index, isOffered] of this.#offered.entries()) {
      const shouldOffer = isWanted(index) && (this.#pausedUntil.get(index) ?? 0) < now
      if (shouldOffer === (isOffered === 1)) continue
      this.#offered[index] = shouldOffer ? 1 : 0
      if (shouldOffer) this.have(index)
      else this.lt_donthave.donthave(index)
    }
  }

  async #get(start: number, length: number): Promise<Uint8Array> {
    for (let attempt = 0; ; attempt += 1) {
      const [url = ''] = this.#urls
      const response = await fetch(url, {
        headers: { range: `bytes=${start}-${start + length - 1}` },
        signal: AbortSignal.any([this.#abort.signal, AbortSignal.timeout(patienceMs)]),
      })
      const isWhole = start === 0 && response.status === 200
      if (response.status === 206 || isWhole) return new Uint8Array(await response.arrayBuffer())
      await response.body?.cancel()
      if (attempt + 1 >= this.#urls.length)
        throw new Error(`the registry answered ${response.status}`)
      this.#urls.push(...this.#urls.splice(0, 1)) // a URL dies after its day: the next one
    }
  }

  #pause(piece: number, error: Error, answer: Answer) {
    if (this.destroyed) return
    this.#pausedUntil.set(piece, performance.now() + pauseMs)
    this.#offered[piece] = 0
    this.lt_donthave.donthave(piece)
    answer(error)
  }

  override destroy() {
    this.#abort.abort(new Error('the registry is not asked any more'))
    super.destroy()
  }
}
