/** The files used to verify the other files of a release. */
export const releaseFiles = {
  checksums: 'SHA256SUMS',
  /** The Ed25519 signature of the checksums: 64 bytes (RFC 8032). */
  signature: 'SHA256SUMS.sig',
  /** The public key, in PEM format. */
  publicKey: 'SHA256SUMS.pem',
} as const

/** A line of `SHA256SUMS`. Paths and hidden files do not match. */
const line = /^([0-9a-f]{64}) [ *]([A-Za-z0-9_][A-Za-z0-9._+-]{0,199})$/

/**
 * Parses checksums in the format of `sha256sum`. Returns the SHA-256 of each file by its name. Returns undefined if a
 * line is malformed, or if a name occurs twice or is not a plain filename.
 */
export function parseChecksums(text: string): Map<string, string> | undefined {
  const sums = new Map<string, string>()
  for (const one of text.split('\n').filter(Boolean)) {
    const [, sha256, name] = line.exec(one) ?? []
    if (sha256 === undefined || name === undefined || sums.has(name)) return undefined
    sums.set(name, sha256)
  }
  return sums.size > 0 ? sums : undefined
}
