/** Optional features of an S3 store, as found by the probe at startup. */
export type S3Support = {
  /** Presigned uploads can require `x-amz-content-sha256`, the SHA-256 of the body (hexadecimal). */
  takesContentHash: boolean
  /** Presigned uploads can require `x-amz-checksum-sha256`, the same hash (base64). */
  takesChecksum: boolean
  /** The store refuses bytes that do not match the hash in these headers. */
  refusesWrongBytes: boolean
  /** A GET of an object with `?partNumber=` returns that part. */
  servesParts: boolean
}

/** A store without optional features. */
export const minimalSupport: S3Support = {
  takesContentHash: false,
  takesChecksum: false,
  refusesWrongBytes: false,
  servesParts: false,
}

/** Returns the headers that the sender of a chunk with this hash must include. */
export function chunkHeaders(
  hash: string,
  { takesContentHash, takesChecksum }: Pick<S3Support, 'takesContentHash' | 'takesChecksum'>,
): Record<string, string> {
  return {
    ...(takesContentHash && { 'x-amz-content-sha256': hash }),
    ...(takesChecksum && {
      'x-amz-checksum-sha256': Buffer.from(hash, 'hex').toString('base64'),
    }),
  }
}
