/** How a daemon proves to its owner's commands that it is the one that wrote their note: see decision 0019. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The end of a connection at which the daemon was asked. */
export type Endpoint = { address: string | undefined; port: number | undefined }

/** Only whoever knows the token can compute it, and for no other endpoint: nobody can pass the question on. */
export function computeProof(token: string, nonce: string, { address = '', port = 0 }: Endpoint) {
  const plain = address.replace(/^::ffff:/, '') // IPv4, at a socket that takes both
  return createHmac('sha256', token).update(`${nonce} ${plain} ${port}`).digest('base64url')
}

/** Constant-time comparison. */
export function isSameProof(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
