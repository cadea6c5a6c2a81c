// Writes the tables of settings into the documentation.
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withTables } from '../packages/cli/src/settings/docs-tables.ts'

const root = join(import.meta.dirname, '..')
for await (const name of glob('{README.md,docs/*.md}', { cwd: root })) {
  const path = join(root, name)
  await writeFile(path, withTables(await readFile(path, 'utf8')))
}
