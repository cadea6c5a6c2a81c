/** Passes items from the code that finds them to the code that processes them. */
export interface AsyncQueue<Item> {
  add(...items: Item[]): void
  /** Reports that there will be no more items. Items in the queue can still be taken. Later calls do nothing. */
  end(): void
  /**
   * Removes up to `max` items from the front of the queue. Resolves with them as soon as there is at least one, or with
   * an empty array once the queue has ended and is empty.
   */
  take(max: number): Promise<Item[]>
}

/**
 * Creates a queue for any number of readers.
 * @example
 * import { asyncQueue } from '@shoal/transfer/push'
 *
 * const chunks = asyncQueue<{ index: number; hash: string; size: number }>()
 * const hash = '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03'
 * chunks.add({ index: 0, hash, size: 6 })
 * chunks.end()
 * console.log(await chunks.take(64))
 */
export function asyncQueue<Item>(): AsyncQueue<Item> {
  const waiting: Item[] = []
  const takers: (() => void)[] = []
  let hasEnded = false
  const wakeAll = () => {
    for (const wake of takers.splice(0)) wake()
  }

  return {
    add(...items) {
      waiting.push(...items)
      wakeAll()
    },
    end() {
      hasEnded = true
      wakeAll()
    },
    async take(max) {
      while (waiting.length === 0 && !hasEnded) {
        await new Promise<void>((resolve) => {
          takers.push(resolve)
        })
      }
      return waiting.splice(0, max)
    },
  }
}
