import { hasCode } from '@shoal/core/errors'
import { type Bencoded, decodeBencode as decode } from '@shoal/model-file'
import { Refusal } from './errors.ts'

export type { Bencoded }

/** Decodes bencoded bytes from a peer. Throws a `Refusal` if they are not a bencoded value. */
export function decodePayload(bytes: Buffer): Bencoded {
  try {
    return decode(bytes)
  } catch (error) {
    throw hasCode(error, 'invalid_bencode') ? new Refusal(error.message) : error
  }
}
