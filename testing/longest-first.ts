import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Patterns for the paths of the tests that take longest, the longest tests first. */
const longest = [/^faults\//, /^release\//, /^conformance\//, /^cluster\//, /\/(pages|peers)\//]

/**
 * Runs the slowest test files first. By default, Vitest starts with the largest files. Some slow test files are small,
 * so they would start late, and the last of them would run alone.
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
