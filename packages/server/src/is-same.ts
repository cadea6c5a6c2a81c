import { timingSafeEqual } from 'node:crypto'

/** Whether two secrets are the same, compared in constant time. */
export function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
