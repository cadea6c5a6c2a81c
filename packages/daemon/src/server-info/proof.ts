/** How a daemon proves its identity to its owner's commands: see decision 0019. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The daemon's end of the connection. */
export type Endpoint = { address: string | undefined; port: number | undefined }

/**
 * Computes a proof of knowledge of the token. The proof depends on the endpoint, so that no other program can relay the
 * challenge to the daemon and pass off the proof as its own.
 */
export function computeProof(token: string, nonce: string, { address = '', port = 0 }: Endpoint) {
  const plain = address.replace(/^::ffff:/, '') // an IPv4 address, as a dual-stack socket reports it
  return createHmac('sha256', token).update(`${nonce} ${plain} ${port}`).digest('base64url')
}

/** Constant-time comparison. */
export function isSameProof(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
