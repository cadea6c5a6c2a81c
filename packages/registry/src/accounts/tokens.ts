import { createHash, randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Enough base-62 digits for 256 random bits: 62^43 is just above 2^256. */
const length = 43

/** A kind of token that identifies a caller. */
export type TokenKind = 'session' | 'key'

/** Unmodified Hugging Face clients and llama.cpp accept only keys with the prefix `hf_` (see docs/decisions/0004). */
const prefixes = { session: 'shs_', key: 'hf_', invitation: 'shi_' } as const

/** Creates a token with 256 random bits. Only its digest is stored. */
export function makeToken(kind: keyof typeof prefixes): string {
  let number = BigInt(`0x${randomBytes(32).toString('hex')}`)
  let text = ''
  for (let digit = 0; digit < length; digit += 1) {
    text = alphabet[Number(number % 62n)] + text
    number /= 62n
  }
  return prefixes[kind] + text
}

/** Determines a token's kind from its format. Returns undefined if `token` does not have the format of a token. */
export function classifyToken(token: string): TokenKind | undefined {
  const found = /^(shs_|hf_)[0-9A-Za-z]{43}$/.exec(token)
  if (!found) return undefined
  return found[1] === prefixes.session ? 'session' : 'key'
}

export function hashToken(token: string): Uint8Array {
  return createHash('sha256').update(token).digest()
}
