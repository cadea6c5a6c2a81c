import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../../../testing/temporary-folder.ts'

/** Creates a temporary log file, to be passed to a registry as its `log` setting. */
export function temporaryLog() {
  const folder = temporaryFolder()
  const file = join(folder, 'registry.log')
  return {
    file,
    /** Returns the lines written so far. */
    lines(): Record<string, unknown>[] {
      const complete = readFileSync(file, 'utf8').split('\n').slice(0, -1)
      return complete.map((line) => JSON.parse(line))
    },
  }
}
