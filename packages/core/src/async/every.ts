import type { Clock } from './clock.ts'

/** Calls `run` every `ms` milliseconds, like `setInterval`. Returns a function that ends the calls. */
export function every(ms: number, run: () => void, clock: Clock): () => void {
  let cancel: () => void
  const again = () => {
    cancel = clock.after(ms, again)
    run()
  }
  cancel = clock.after(ms, again)
  return () => cancel()
}
