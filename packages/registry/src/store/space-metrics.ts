import { Gauge, type Registry } from 'prom-client'
import type { ObjectStore, StoreSpace } from './object-store.ts'

/**
 * Exports metrics of the store's space, which is read for each scrape. The values are NaN if the space
 * cannot be read or is unlimited.
 */
export function spaceMetrics(registry: Registry, store: Pick<ObjectStore, 'space'>) {
  const gauge = (name: string, help: string, getBytes: (space: StoreSpace) => number) =>
    new Gauge({
      name: `shoal_store_${name}_bytes`,
      help,
      registers: [registry],
      async collect() {
        const space = await store.space().catch(() => 'unknown' as const) // other metrics must still work
        this.set(typeof space === 'object' ? getBytes(space) : Number.NaN)
      },
    })
  gauge('free', "Free bytes of the store's file system", ({ freeBytes }) => freeBytes)
  gauge('reserve', 'Bytes that uploads must leave free', ({ reserveBytes }) => reserveBytes)
  gauge('awaited', 'Bytes of open uploads not yet received', ({ awaitedBytes }) => awaitedBytes)
}
