import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of its own, deleted with the scope that made it. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'shoal-daemon-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
