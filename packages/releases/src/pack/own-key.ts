import { createPrivateKey, type KeyObject } from 'node:crypto'

/** The bytes that precede the 32 bytes of an Ed25519 private key in a PKCS #8 file in DER format (RFC 8410 §7). */
const keyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Returns the Ed25519 private key with this seed: 32 bytes in hexadecimal. */
export const toSigningKey = (seed: string): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([keyPrefix, Buffer.from(seed, 'hex')]),
    format: 'der',
    type: 'pkcs8',
  })
