import { invalidGguf } from './gguf-error.ts'

/**
 * Returns `length` bytes from `offset`, or fewer if the file ends sooner. The reader may request the same bytes more
 * than once, and never requests more than 1 MiB at a time. An implementation must not reuse an array that it has
 * returned.
 */
export type ReadBytes = (offset: number, length: number) => Promise<Uint8Array>

/** The largest real headers, with 250,000 tokens and merges, take about 15 MiB. */
const maxHeaderBytes = 256 * 1024 * 1024

const windowBytes = 1024 * 1024
const text = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Reads a header sequentially through a single window of 1 MiB, regardless of the sizes that the header declares. Skips
 * arrays of fixed-size items without reading them. To skip a string, reads only its length.
 */
export class HeaderReader {
  position = 0
  readonly #read: ReadBytes
  readonly #fileSizeBytes: number
  readonly #limit: number
  #window: Uint8Array = new Uint8Array()
  #view: DataView = new DataView(this.#window.buffer)
  #windowStart = 0

  constructor(read: ReadBytes, fileSizeBytes: number) {
    this.#read = read
    this.#fileSizeBytes = fileSizeBytes
    this.#limit = Math.min(fileSizeBytes, maxHeaderBytes)
  }

  /** Maximum number of bytes left in the header. */
  get remaining(): number {
    return this.#limit - this.position
  }

  async bytes(length: number): Promise<Uint8Array> {
    const offset = await this.#advance(length)
    return this.#window.subarray(offset, offset + length)
  }

  async string(length: number): Promise<string> {
    return text.decode(await this.bytes(length))
  }

  async u32(): Promise<number> {
    const offset = await this.#advance(4)
    return this.#view.getUint32(offset, true)
  }

  async u64(): Promise<number | bigint> {
    const offset = await this.#advance(8)
    const value = this.#view.getBigUint64(offset, true)
    return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
  }

  /** Returns a view of the next `length` bytes, which is valid until the next read. */
  async view(length: number): Promise<DataView> {
    const { buffer, byteOffset } = await this.bytes(length)
    return new DataView(buffer, byteOffset, length)
  }

  /** Reads a u64 that counts items of at least `minimumBytes` each. `what` describes the count in an error message. */
  async count(what: string, minimumBytes: number): Promise<number> {
    const count = await this.u64()
    if (count > this.remaining / minimumBytes) {
      throw invalidGguf(`${what} is ${count}, more than the remaining bytes can hold`)
    }
    return Number(count)
  }

  skip(length: number): void {
    this.#check(length)
    this.position += length
  }

  /** Skips strings by reading only their lengths. This takes about ten milliseconds for 250,000 strings. */
  async skipStrings(count: number): Promise<void> {
    for (let left = count; left > 0; ) {
      if (!this.#holds(8)) await this.#load(8)
      left -= this.#skipLoadedStrings(left)
    }
  }

  #skipLoadedStrings(atMost: number): number {
    const lastStart = this.#window.length - 8
    let offset = this.position - this.#windowStart
    let skipped = 0
    for (; skipped < atMost && offset <= lastStart; skipped += 1) {
      const length =
        this.#view.getUint32(offset, true) + this.#view.getUint32(offset + 4, true) * 2 ** 32
      offset += 8 + length
    }
    this.skip(this.#windowStart + offset - this.position)
    return skipped
  }

  async #advance(length: number): Promise<number> {
    if (!this.#holds(length)) await this.#load(length)
    const offset = this.position - this.#windowStart
    this.position += length
    return offset
  }

  #holds(length: number): boolean {
    return this.position + length <= this.#windowStart + this.#window.length
  }

  async #load(length: number): Promise<void> {
    this.#check(length)
    const bytes = await this.#read(this.position, Math.min(windowBytes, this.remaining))
    if (bytes.length < length) this.#fail(this.position + bytes.length)
    this.#window = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#windowStart = this.position
  }

  #check(length: number): void {
    if (length > this.remaining) this.#fail(this.#fileSizeBytes)
  }

  #fail(fileEnd: number): never {
    throw invalidGguf(
      fileEnd > maxHeaderBytes
        ? `the header is longer than ${maxHeaderBytes} bytes`
        : `the file ends at byte ${fileEnd}, in the middle of its header`,
    )
  }
}
