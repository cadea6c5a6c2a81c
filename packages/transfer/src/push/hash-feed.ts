import type { ChunkHash } from '@shoal/model-file'

/** Passes hashes of chunks from the code that computes them to the code that declares them. */
export interface HashFeed {
  add(chunk: ChunkHash): void
  /** Reports that all hashes were added, or that the others will never be known. Later calls do nothing. */
  end(): void
  /**
   * Resolves with the hashes that were added since the last call, at most `max` of them, as soon as there is one; empty
   * once the feed has ended.
   */
  take(max: number): Promise<ChunkHash[]>
}

/**
 * Creates a feed for one reader.
 * @example
 * import { hashFeed } from '@shoal/transfer/push'
 *
 * const chunks = hashFeed()
 * const hash = '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03'
 * chunks.add({ index: 0, hash, size: 6 })
 * chunks.end()
 * console.log(await chunks.take(64))
 */
export function hashFeed(): HashFeed {
  const waiting: ChunkHash[] = []
  let hasEnded = false
  let wake: () => void = () => undefined

  return {
    add(chunk) {
      waiting.push(chunk)
      wake()
    },
    end() {
      hasEnded = true
      wake()
    },
    async take(max) {
      while (waiting.length === 0 && !hasEnded) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return waiting.splice(0, max)
    },
  }
}
