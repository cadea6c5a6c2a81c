import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Creates a temporary folder, which is deleted when the result is disposed of. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'shoal-daemon-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
