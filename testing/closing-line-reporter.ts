import type { Reporter, TestModule } from 'vitest/node'

/** Prints `N passed, N failed, N skipped` on the last line, which any CI system can parse. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      for (const test of tests) count[test.result().state] += 1
      if (tests.every((test) => test.result().state !== 'failed') && module.state() === 'failed') {
        count.failed += 1 // the file itself could not be read or set up
      }
    }
    // After the default reporter's own summary, which is written in the same tick.
    process.once('exit', () =>
      process.stdout.write(
        `\n${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped\n`,
      ),
    )
  }
}
