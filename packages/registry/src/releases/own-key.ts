import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Database } from '../database/schema.ts'
import { readSecret } from '../database/secret.ts'

/** Everything of a PKCS #8 file (DER) with an Ed25519 private key except the 32 bytes of the key (RFC 8410, 7). */
const keyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Returns the key with which the registry signs its own program. All nodes have the same key, also after a restart. */
export async function readOwnKey(db: Kysely<Database>): Promise<KeyObject> {
  const seed = Buffer.from(await readSecret(db, 'release-key'), 'hex')
  return createPrivateKey({
    key: Buffer.concat([keyPrefix, seed]),
    format: 'der',
    type: 'pkcs8',
  })
}
