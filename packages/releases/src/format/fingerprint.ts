import { createHash, type KeyObject } from 'node:crypto'

/** Returns the SHA-256 of a public key (SPKI, DER). */
export const fingerprintOf = (key: KeyObject) =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
