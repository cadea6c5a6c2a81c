/** How a daemon proves to its owner's commands that it wrote their record of it: see decision 0019. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The daemon's end of the connection. */
export type Endpoint = { address: string | undefined; port: number | undefined }

/** Computable only with the token, and different for each endpoint, so that nobody can relay the challenge. */
export function computeProof(token: string, nonce: string, { address = '', port = 0 }: Endpoint) {
  const plain = address.replace(/^::ffff:/, '') // IPv4, at a socket that accepts both
  return createHmac('sha256', token).update(`${nonce} ${plain} ${port}`).digest('base64url')
}

/** Constant-time comparison. */
export function isSameProof(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
