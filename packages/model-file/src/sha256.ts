/**
 * SHA-256 (FIPS 180-4) of bytes that come one after another. For browsers alone: their WebCrypto hashes only what lies in memory
 * whole, and only on pages that came by HTTPS or from this machine. Where Node is, its own is ten times as fast.
 */

const blockBytes = 64
/** The longest message that a count of bytes in a double can tell. */
const lengthBytes = 8

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const roundConstants = new Int32Array(firstPrimes(64).map((prime) => fractionOf(Math.cbrt(prime))))
/** And of the square roots of the first eight. */
const initialState = new Int32Array(firstPrimes(8).map((prime) => fractionOf(Math.sqrt(prime))))

export class Sha256 {
  readonly #state = Int32Array.from(initialState)
  readonly #schedule = new Int32Array(64)
  readonly #rest = new Uint8Array(blockBytes)
  #restBytes = 0
  #hashedBytes = 0

  update(bytes: Uint8Array): this {
    this.#hashedBytes += bytes.length
    let offset = 0
    if (this.#restBytes > 0) {
      offset = Math.min(blockBytes - this.#restBytes, bytes.length)
      this.#rest.set(bytes.subarray(0, offset), this.#restBytes)
      this.#restBytes += offset
      if (this.#restBytes < blockBytes) return this
      hashBlocks(this.#state, this.#schedule, this.#rest)
    }
    const end = bytes.length - ((bytes.length - offset) % blockBytes)
    hashBlocks(this.#state, this.#schedule, bytes.subarray(offset, end))
    this.#rest.set(bytes.subarray(end))
    this.#restBytes = bytes.length - end
    return this
  }

  /** The hash, 32 bytes. Nothing can be added after it. */
  digest(): Uint8Array {
    const bits = this.#hashedBytes * 8
    const isRoomForLength = this.#restBytes + 1 + lengthBytes <= blockBytes
    const padding = new Uint8Array((isRoomForLength ? 1 : 2) * blockBytes - this.#restBytes)
    padding[0] = 0x80
    const view = new DataView(padding.buffer)
    view.setUint32(padding.length - 8, Math.floor(bits / 2 ** 32))
    view.setUint32(padding.length - 4, bits % 2 ** 32)
    this.update(padding)
    const hash = new DataView(new ArrayBuffer(32))
    for (const [place, word] of this.#state.entries()) hash.setInt32(place * 4, word)
    return new Uint8Array(hash.buffer)
  }
}

/** `bytes` are whole blocks. The names are the standard's. */
function hashBlocks(state: Int32Array, w: Int32Array, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let offset = 0; offset < bytes.length; offset += blockBytes) {
    for (let t = 0; t < 16; t += 1) w[t] = view.getInt32(offset + t * 4)
    for (let t = 16; t < 64; t += 1) {
      const x = at(w, t - 15)
      const y = at(w, t - 2)
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      w[t] = (at(w, t - 16) + s0 + at(w, t - 7) + s1) | 0
    }
    hashBlock(state, w, roundConstants)
  }
}

/** Eight rounds are written out, so that no word has to change its place: half as fast again. */
function hashBlock(state: Int32Array, w: Int32Array, k: Int32Array): void {
  let a = at(state, 0)
  let b = at(state, 1)
  let c = at(state, 2)
  let d = at(state, 3)
  let e = at(state, 4)
  let f = at(state, 5)
  let g = at(state, 6)
  let h = at(state, 7)
  for (let t = 0; t < 64; t += 8) {
    h = (h + big1(e) + choose(e, f, g) + at(k, t) + at(w, t)) | 0
    d = (d + h) | 0
    h = (h + big0(a) + most(a, b, c)) | 0
    g = (g + big1(d) + choose(d, e, f) + at(k, t + 1) + at(w, t + 1)) | 0
    c = (c + g) | 0
    g = (g + big0(h) + most(h, a, b)) | 0
    f = (f + big1(c) + choose(c, d, e) + at(k, t + 2) + at(w, t + 2)) | 0
    b = (b + f) | 0
    f = (f + big0(g) + most(g, h, a)) | 0
    e = (e + big1(b) + choose(b, c, d) + at(k, t + 3) + at(w, t + 3)) | 0
    a = (a + e) | 0
    e = (e + big0(f) + most(f, g, h)) | 0
    d = (d + big1(a) + choose(a, b, c) + at(k, t + 4) + at(w, t + 4)) | 0
    h = (h + d) | 0
    d = (d + big0(e) + most(e, f, g)) | 0
    c = (c + big1(h) + choose(h, a, b) + at(k, t + 5) + at(w, t + 5)) | 0
    g = (g + c) | 0
    c = (c + big0(d) + most(d, e, f)) | 0
    b = (b + big1(g) + choose(g, h, a) + at(k, t + 6) + at(w, t + 6)) | 0
    f = (f + b) | 0
    b = (b + big0(c) + most(c, d, e)) | 0
    a = (a + big1(f) + choose(f, g, h) + at(k, t + 7) + at(w, t + 7)) | 0
    e = (e + a) | 0
    a = (a + big0(b) + most(b, c, d)) | 0
  }
  state[0] = at(state, 0) + a
  state[1] = at(state, 1) + b
  state[2] = at(state, 2) + c
  state[3] = at(state, 3) + d
  state[4] = at(state, 4) + e
  state[5] = at(state, 5) + f
  state[6] = at(state, 6) + g
  state[7] = at(state, 7) + h
}

const big0 = (x: number) =>
  ((x >>> 2) | (x << 30)) ^ ((x >>> 13) | (x << 19)) ^ ((x >>> 22) | (x << 10))
const big1 = (x: number) =>
  ((x >>> 6) | (x << 26)) ^ ((x >>> 11) | (x << 21)) ^ ((x >>> 25) | (x << 7))
const choose = (x: number, y: number, z: number) => z ^ (x & (y ^ z))
const most = (x: number, y: number, z: number) => (x & y) | (z & (x | y))

/** The compiler cannot know that it is inside. */
function at(numbers: ArrayLike<number>, place: number): number {
  return numbers[place] as number
}

function fractionOf(root: number): number {
  return ((root % 1) * 2 ** 32) | 0
}

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let number = 2; primes.length < count; number += 1) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  }
  return primes
}
