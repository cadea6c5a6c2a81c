/** The result of hashing the first chunks of a file, from which hashing can continue. */
export type PartialHash = {
  /** Total size of these chunks. */
  bytesDone: number
  /** The SHA-256 of the first chunk in lowercase hex, which is used to recognize the file. */
  firstHash: string
  /** The SHA-256 hashes of these chunks, 32 bytes each. */
  chunkHashes: Uint8Array<ArrayBuffer>
  /** The state of the whole file's hash after these chunks, in the format of the installed version of hash-wasm. */
  state: Uint8Array
}
