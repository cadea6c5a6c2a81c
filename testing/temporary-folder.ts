import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { removeDirectorySync } from './remove-directory.ts'

/** Creates a folder, which is deleted at the end of the current test. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'shoal-test-'))
  onTestFinished(() => removeDirectorySync(path))
  return path
}
