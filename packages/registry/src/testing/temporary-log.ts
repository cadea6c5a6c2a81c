import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A log file, as a setting of a registry. */
export function temporaryLog() {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'registry.log')
  return {
    file,
    /** The lines written so far. */
    lines(): Record<string, unknown>[] {
      const complete = readFileSync(file, 'utf8').split('\n').slice(0, -1)
      return complete.map((line) => JSON.parse(line))
    },
  }
}
