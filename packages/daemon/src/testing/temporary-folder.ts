import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Creates a temporary folder, which is deleted at the end of the scope that created it. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'shoal-daemon-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
