/** Waits for its turn, then runs the task. Rejects without running it if the client has disconnected by then. */
export type RenderTurns = <T>(isGone: () => boolean, task: () => Promise<T>) => Promise<T>

/**
 * Returns a function that renders at most `maxConcurrent` pages at the same time. `gone` creates the error for clients
 * that have disconnected. Rendering a page takes 10 to 30 ms, so dozens of pages in one turn of the event loop would
 * delay all other requests. They would also delay the node's heartbeats. A node whose heartbeats are late stops using
 * its cache, and would then have to render even more pages.
 */
export function renderTurns(maxConcurrent: number, gone: () => Error): RenderTurns {
  const waiting: (() => void)[] = []
  let running = 0

  function next() {
    const start = waiting.shift()
    if (start) start()
    else running -= 1
  }

  return async (isGone, task) => {
    if (running < maxConcurrent) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      if (isGone()) throw gone()
      return await task()
    } finally {
      setImmediate(next) // lets other work run first
    }
  }
}
