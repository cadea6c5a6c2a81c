/**
 * Lets operations that need the context's lock run between two batches. The library keeps the lock as long as any
 * conversation has tokens for the next batch. Without a pause, such an operation would wait until all other
 * conversations have ended.
 */
export function betweenBatches() {
  let count = 0
  let over = Promise.withResolvers<void>()

  return {
    /** Runs an operation after the current batch. No further batch begins until the operation has ended. */
    async run<Result>(operation: () => Promise<Result>): Promise<Result> {
      count += 1
      try {
        return await operation()
      } finally {
        count -= 1
        if (count === 0) {
          over.resolve()
          over = Promise.withResolvers()
        }
      }
    },

    /** Resolves when no operation is waiting or running. Wait for this before requesting the next token. */
    async turn() {
      while (count > 0) await over.promise
    },
  }
}
