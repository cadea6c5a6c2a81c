// Writes the tables of errors into the documentation.
import { readFileSync, writeFileSync } from 'node:fs'
import { withErrorTables } from '../packages/core/src/errors/markdown.ts'

for (const name of ['docs/errors.md', 'docs/reliability.md']) {
  const page = new URL(`../${name}`, import.meta.url)
  writeFileSync(page, withErrorTables(readFileSync(page, 'utf8')))
}
