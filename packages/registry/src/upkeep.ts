/**
 * Runs steps now and then, each `everyMs` after the last round has ended. A step that fails is reported and does not keep the next one
 * from running. `stop` resolves when nothing runs any more.
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
