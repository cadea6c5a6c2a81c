import type { Reporter, TestModule, Vitest } from 'vitest/node'

const slowestCount = 10

/**
 * Ends the output with the slowest files and `N passed, N failed, N skipped` on the last line, which CI systems parse.
 */
export default class ClosingLineReporter implements Reporter {
  #vitest: Vitest | undefined
  #startedAt = 0

  onInit(vitest: Vitest) {
    this.#vitest = vitest
  }

  onTestRunStart() {
    this.#startedAt = performance.now()
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      for (const test of tests) count[test.result().state] += 1
      if (tests.every((test) => test.result().state !== 'failed') && module.state() === 'failed') {
        count.failed += 1 // the test file itself could not be loaded or set up
      }
    }
    const closingLine = `${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped`
    const slowest = modules.length > 1 ? this.#slowest(modules) : []
    // Printed at exit, so that the lines follow the default reporter's summary, which is written in the same tick.
    process.once('exit', () => process.stdout.write(`\n${[...slowest, closingLine].join('\n')}\n`))
  }

  /** Returns lines about the files that took longest. Files run side by side, so their sum exceeds the run's time. */
  #slowest(modules: ReadonlyArray<TestModule>): string[] {
    const root = this.#vitest?.config.root ?? ''
    const files = modules
      .map((module) => {
        const { collectDuration, duration, setupDuration } = module.diagnostic()
        const path = module.moduleId.slice(root.length + 1)
        return { path, seconds: (collectDuration + setupDuration + duration) / 1000 }
      })
      .sort((a, b) => b.seconds - a.seconds)
    const sum = files.reduce((total, { seconds }) => total + seconds, 0)
    const elapsed = (performance.now() - this.#startedAt) / 1000
    return [
      'Slowest test files:',
      ...files.slice(0, slowestCount).map(({ path, seconds }) => `${format(seconds)}  ${path}`),
      `${format(sum)}  all ${files.length} files, in ${format(elapsed).trim()}`,
      '',
    ]
  }
}

const format = (seconds: number) => `${seconds.toFixed(1)} s`.padStart(9)
