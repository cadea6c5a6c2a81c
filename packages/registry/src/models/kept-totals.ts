import { LRUCache } from 'lru-cache'

/**
 * A total is cached for this many times as long as it took to compute. Cheap ones are not cached, so they are always
 * exact.
 */
const ttlFactor = 50
const cheapMs = 20
const maxKept = 200
const maxKeptBytes = 4 * 1024 * 1024

/** Computes each total only once at a time, however many callers there are, and caches slow ones. */
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
    /** @param key identifies the total: the same key must always have the same type */
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
