import { systemClock } from './clock.ts'

/**
 * Runs the steps one after another, and repeats this in rounds. Each round starts `intervalMs` after the previous one
 * has ended. If a step fails, calls `onError` and continues with the next step. The returned `stop` prevents further
 * rounds, and resolves when the current round, if any, has ended.
 */
export function startUpkeep(
  intervalMs: number,
  steps: readonly (() => Promise<unknown>)[],
  onError: (error: unknown) => void,
) {
  let cancel: (() => void) | undefined
  let isStopped = false
  let round: Promise<void> = Promise.resolve()

  async function run() {
    for (const step of steps) await step().catch(onError)
    if (isStopped) return
    cancel = systemClock.after(intervalMs, begin)
  }

  function begin() {
    round = run()
  }

  begin()
  return {
    async stop() {
      isStopped = true
      cancel?.()
      await round
    },
  }
}
