import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withTables } from './docs-tables.ts'

const root = join(import.meta.dirname, '../../../..')

test('the settings tables in the docs are up to date (npm run docs)', async () => {
  const marks: string[] = []
  for await (const name of glob('{README.md,docs/*.md}', { cwd: root })) {
    const text = await readFile(join(root, name), 'utf8')
    expect(withTables(text), name).toBe(text)
    marks.push(...Array.from(text.matchAll(/<!-- settings: (.+?) -->/g), ([, mark = '']) => mark))
  }
  const wanted = ['registry', 'registry in short', 's3', 'daemon', 'command line', 'saved']
  expect(marks.toSorted()).toEqual(wanted.toSorted())
})

test('a table is regenerated, and an unknown table is an error', () => {
  const marked = (name: string) => `<!-- settings: ${name} -->\nold\n<!-- end of settings -->`
  const printed = withTables(`before\n${marked('saved')}\nafter`)
  expect(printed).toMatch(/^before\n.*\n\| `connections` \| `--connections` \|.*\nafter$/s)
  expect(printed).not.toContain('\nold\n')
  expect(() => withTables(marked('nothing'))).toThrow('unknown settings table: nothing')
})
