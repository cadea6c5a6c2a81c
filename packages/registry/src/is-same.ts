import { timingSafeEqual } from 'node:crypto'

/** Constant-time comparison of two secrets. */
export function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
