import { LRUCache } from 'lru-cache'

/** Totals over very many models are kept for this many times as long as they took: exact where they are cheap. */
const ttlFactor = 50
const cheapMs = 20
const maxKept = 200
const maxKeptBytes = 4 * 1024 * 1024

/** Computes each total once at a time, whoever asks for it, and keeps those that took long. */
export function keptTotals() {
  const kept = new LRUCache<string, { value: object; sizeBytes: number }>({
    max: maxKept,
    maxSize: maxKeptBytes,
    sizeCalculation: ({ sizeBytes }) => sizeBytes,
  })
  const underWay = new Map<string, Promise<object>>()

  async function compute<T extends object>(key: string, total: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    const value = await total()
    const tookMs = performance.now() - startedAt
    if (tookMs > cheapMs) {
      const sizeBytes = 2 * (key.length + JSON.stringify(value).length) + 1_000
      kept.set(key, { value, sizeBytes }, { ttl: tookMs * ttlFactor })
    }
    return value
  }

  return {
    /** @param key what the total is of: the same key means the same type */
    find<T extends object>(key: string, total: () => Promise<T>): Promise<T> {
      const known = kept.get(key)
      if (known) return Promise.resolve(known.value as T)
      const begun = underWay.get(key) as Promise<T> | undefined
      if (begun) return begun
      const computing = compute(key, total).finally(() => underWay.delete(key))
      underWay.set(key, computing)
      return computing
    },
  }
}
