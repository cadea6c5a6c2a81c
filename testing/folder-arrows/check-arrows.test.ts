import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkArrows } from './check-arrows.ts'
import { readImports } from './read-imports.ts'
import { readTable } from './table.ts'

const empty = ''

/** Returns the complaints for a repository with these files and this table. */
function complaints(table: string, files: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'shoal-arrows-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, source] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), source)
  }
  return checkArrows(readImports(root), readTable(table))
}

const page = 'packages/shop/src/pages/page.ts'
const store = 'packages/shop/src/store/store.ts'
const refused = [
  'not in arrows.txt: shop/pages → shop/store ' +
    '(packages/shop/src/pages/page.ts imports packages/shop/src/store/store.ts)',
]

describe('checkArrows', () => {
  test.each([
    ['an import', "import { a } from '../store/store.ts'"],
    ['an import of types', "import type { A } from '../store/store.ts'"],
    ['a dynamic import', "export const load = () => import('../store/store.ts')"],
    ['a re-export', "export { a } from '../store/store.ts'"],
    ['a re-export of everything', "export * from '../store/store.ts'"],
    ['an inline import type', "export type A = import('../store/store.ts').A"],
    ['an import for side effects', "import '../store/store.ts'"],
  ])('refuses %s that the table does not allow', (_, source) => {
    expect(complaints(empty, { [page]: source })).toEqual(refused)
  })

  test('accepts imports that the table allows, and imports within a folder', () => {
    const files = {
      [page]: "import '../store/store.ts'\nimport './part.ts'",
      'packages/shop/src/pages/part.tsx': 'export const Part = () => <p>part</p>',
      [store]: 'export const a = 1',
    }
    expect(complaints('shop/pages → store', files)).toEqual([])
  })

  test('refuses an import of another package, even in tests', () => {
    const files = {
      [page]: "import '@shoal/core/units'",
      'packages/shop/src/a.test.ts': "import '@shoal/web'",
    }
    expect(complaints(empty, files)).toEqual([
      'not in arrows.txt: shop tests → web (packages/shop/src/a.test.ts imports packages/web)',
      `not in arrows.txt: shop → core (${page} imports packages/core)`,
    ])
    expect(complaints('shop → core\nshop tests → web', files)).toEqual([])
  })

  test('refuses a row that no import needs', () => {
    expect(complaints('shop/pages → store ui', { [page]: "import '../store/store.ts'" })).toEqual([
      'no longer needed in arrows.txt: shop/pages → shop/ui',
    ])
    const onlyTests = { 'packages/shop/src/a.test.ts': "import '@shoal/web'" }
    expect(complaints('shop → web', onlyTests)).toEqual([
      'no longer needed in arrows.txt: shop → web',
    ])
  })

  test('refuses two folders that import each other, even if they import only types and the table allows it', () => {
    const files = {
      [page]: "import '../store/store.ts'",
      [store]: "import type { Page } from '../pages/other.ts'",
    }
    expect(complaints('shop/pages → store\nshop/store → pages', files)).toEqual([
      'cycle: shop/pages → shop/store → shop/pages\n' +
        `  ${page} imports ${store}\n` +
        `  ${store} imports packages/shop/src/pages/other.ts`,
    ])
  })

  test('refuses a cycle through a file next to the folders', () => {
    const files = {
      [page]: "import '../shop.ts'",
      'packages/shop/src/shop.ts': "import type { Page } from './pages/other.ts'",
    }
    expect(complaints(empty, files)).toEqual([
      expect.stringContaining('cycle: shop/pages → shop/shop.ts → shop/pages'),
    ])
  })

  test('refuses packages that import each other', () => {
    const files = {
      'packages/a/src/a.ts': "import '@shoal/b'",
      'packages/b/src/b.ts': "import type { A } from '@shoal/a'",
    }
    expect(complaints('a → b\nb → a', files)).toEqual([expect.stringContaining('cycle: a → b → a')])
  })

  test('refuses a cycle of files within a folder, even if they import only types', () => {
    const files = {
      [page]: "import type { Part } from './part.ts'",
      'packages/shop/src/pages/part.ts': "import './page.ts'",
    }
    expect(complaints(empty, files)).toEqual([expect.stringContaining('cycle of files: ')])
  })

  test('reports files that cannot be parsed, and invalid or repeated rows', () => {
    expect(() => complaints(empty, { [page]: 'import from' })).toThrow(`${page} cannot be parsed`)
    expect(() => complaints('shop/pages -> store', {})).toThrow('cannot read "shop/pages -> store"')
    expect(() => complaints('shop → web\nshop → web', {})).toThrow('shop → web is listed twice')
  })
})
