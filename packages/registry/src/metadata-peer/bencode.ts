import { type Bencoded, BencodeError, decodeBencode as decode } from '@shoal/model-file'
import { Refusal } from './errors.ts'

export type { Bencoded }

/** What a peer sent. Throws a `Refusal` where it is no bencoded value. */
export function decodeBencode(bytes: Buffer): Bencoded {
  try {
    return decode(bytes)
  } catch (error) {
    throw error instanceof BencodeError ? new Refusal(error.message) : error
  }
}
