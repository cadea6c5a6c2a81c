/** `npm run arrows`: checks the imports between folders, and fails if any are not allowed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkArrows } from './check-arrows.ts'
import { readImports } from './read-imports.ts'
import { readTable } from './table.ts'

const table = readTable(readFileSync(join(import.meta.dirname, 'arrows.txt'), 'utf8'))
const complaints = checkArrows(readImports(join(import.meta.dirname, '../..')), table)
for (const complaint of complaints) console.error(complaint)
if (complaints.length > 0) {
  console.error(
    `\n${complaints.length} problems; docs/architecture.md describes the allowed directions`,
  )
  process.exitCode = 1
}
