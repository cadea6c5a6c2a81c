import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The folders with the tests that take minutes, the longest first. */
const longest = [/^faults\/faults\./, /^release\//, /^conformance\//, /^cluster\//, /^faults\//]

/**
 * Starts with the test files that take minutes. By default, long files, by their size, come first, so that the tests
 * that take minutes would run last, one of them alone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const path = relative(this.ctx.config.root, moduleId)
      const found = longest.findIndex((pattern) => pattern.test(path))
      return found === -1 ? longest.length : found
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => place(a) - place(b))
  }
}
