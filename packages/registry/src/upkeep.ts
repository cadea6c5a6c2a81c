/**
 * Runs the steps in repeated rounds, each beginning `intervalMs` after the end of the round before it. A step that
 * fails is reported, and does not prevent the next step. `stop` resolves when the current round, if any, has ended.
 */
export function startUpkeep(
  intervalMs: number,
  steps: readonly (() => Promise<unknown>)[],
  onError: (error: unknown) => void,
) {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let round: Promise<void> = Promise.resolve()

  async function run() {
    for (const step of steps) await step().catch(onError)
    if (isStopped) return
    timer = setTimeout(begin, intervalMs)
    timer.unref()
  }

  function begin() {
    round = run()
  }

  begin()
  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await round
    },
  }
}
