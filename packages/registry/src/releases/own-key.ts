import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Database } from '../database/schema.ts'
import { readSecret } from '../database/secret.ts'

/** The bytes that precede the 32 bytes of an Ed25519 private key in a PKCS #8 file in DER format (RFC 8410 §7). */
const keyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Returns the key with which the registry signs its own program. The key is stored in the database, so that all nodes
 * use the same key.
 */
export async function readOwnKey(db: Kysely<Database>): Promise<KeyObject> {
  const seed = Buffer.from(await readSecret(db, 'release-key'), 'hex')
  return createPrivateKey({
    key: Buffer.concat([keyPrefix, seed]),
    format: 'der',
    type: 'pkcs8',
  })
}
