import type { Reporter, TestModule } from 'vitest/node'

/** Prints `N passed, N failed, N skipped` as the last line of the output, for CI systems to parse. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      for (const test of tests) count[test.result().state] += 1
      if (tests.every((test) => test.result().state !== 'failed') && module.state() === 'failed') {
        count.failed += 1 // the test file itself could not be loaded or set up
      }
    }
    // Printed at exit, so that the line follows the default reporter's summary, which is written in the same tick.
    process.once('exit', () =>
      process.stdout.write(
        `\n${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped\n`,
      ),
    )
  }
}
