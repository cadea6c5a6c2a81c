import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A temporary folder, deleted with the scope that created it. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'shoal-daemon-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
