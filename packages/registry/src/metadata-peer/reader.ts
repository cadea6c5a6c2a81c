import { Departure, Refusal } from './errors.ts'

/**
 * Reads exact numbers of bytes from a stream of buffers of any size. A buffer is read only when its bytes are needed,
 * so that fast senders have to wait. Throws a `Refusal` if the stream has more than `maxBytes`, and a `Departure` if it
 * ends too early.
 */
export class MetadataReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  #piece: Buffer = Buffer.alloc(0)
  #bytesLeft: number

  constructor(pieces: AsyncIterator<Uint8Array>, maxBytes = Number.POSITIVE_INFINITY) {
    this.#pieces = pieces
    this.#bytesLeft = maxBytes
  }

  async read(size: number): Promise<Buffer> {
    if (this.#piece.length >= size) return this.#take(size)
    const bytes = Buffer.alloc(size)
    let filled = 0
    while (filled < size) {
      await this.#fill()
      filled += this.#take(size - filled).copy(bytes, filled)
    }
    return bytes
  }

  /** Skips bytes without buffering them. */
  async skip(size: number): Promise<void> {
    let left = size
    while (left > 0) {
      await this.#fill()
      left -= this.#take(left).length
    }
  }

  /**
   * Skips everything up to the end of `pattern`. Throws a `Refusal` if more than `bytesBefore` bytes precede `pattern`.
   */
  async skipPast(pattern: Uint8Array, bytesBefore: number): Promise<void> {
    let seen = await this.read(pattern.length)
    for (let skipped = 0; !seen.equals(pattern); skipped += 1) {
      if (skipped === bytesBefore) throw new Refusal('the expected bytes were not found')
      seen = Buffer.concat([seen.subarray(1), await this.read(1)])
    }
  }

  /** Yields the bytes that have not been read yet, as they arrive. */
  async *rest(): AsyncGenerator<Buffer> {
    for (;;) {
      await this.#fill()
      yield this.#take(this.#piece.length)
    }
  }

  #take(size: number): Buffer {
    const taken = this.#piece.subarray(0, size)
    this.#piece = this.#piece.subarray(size)
    return taken
  }

  async #fill(): Promise<void> {
    while (this.#piece.length === 0) {
      const { value, done } = await this.#pieces.next()
      if (done) throw new Departure('the connection ended')
      this.#bytesLeft -= value.length
      if (this.#bytesLeft < 0) throw new Refusal('the peer sent more bytes than the protocol needs')
      this.#piece = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    }
  }
}
