/** Runs a task when it is its turn. Rejects without running it if the client has disconnected by then. */
export type RenderTurns = <T>(isGone: () => boolean, task: () => Promise<T>) => Promise<T>

/**
 * Lets only a few pages be rendered at the same time. Rendering a page takes 10 to 30 ms, and dozens of pages in one turn
 * of the event loop would delay all other requests, and the heartbeats without which a node does not use its cache, so
 * that it would have to render even more pages.
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
      setImmediate(next) // other work comes first
    }
  }
}
