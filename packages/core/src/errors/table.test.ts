import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { withErrorTables } from './markdown.ts'
import { errorTable, exitCodes } from './table.ts'

const root = join(import.meta.dirname, '../../../..')

test.each(['docs/errors.md', 'docs/reliability.md'])(
  'the error tables in %s are up to date',
  (name) => {
    const page = readFileSync(join(root, name), 'utf8')
    expect(page).toContain('<!-- Printed by: npm run errors (endings) -->')
    expect(page, 'print them with: npm run errors').toBe(withErrorTables(page))
  },
)

test('a page that refers to an unknown table causes an error', () => {
  const page = '<!-- Printed by: npm run errors (weather) -->\n<!-- End of the printed errors -->'
  expect(() => withErrorTables(page)).toThrow('unknown error table: weather')
})

test('every ending has a different exit code', () => {
  expect(new Set(Object.values(exitCodes)).size).toBe(Object.keys(exitCodes).length)
})

test('codes with the same HTTP status end a command in the same way', () => {
  const ofStatus = Map.groupBy(Object.values(errorTable), ({ status }) => status)
  ofStatus.delete(undefined)
  for (const [status, rows] of ofStatus) {
    expect(new Set(rows.map(({ ending }) => ending)).size, `status ${status}`).toBe(1)
  }
})

/**
 * Error classes for signals that never leave the module that throws them: see docs/decisions/0022-errors-have-codes.md.
 */
const ownClasses = [
  'cli/src/terminal/failure.ts: Failure',
  'core/src/errors/app-error.ts: AppError',
  'grammar/src/automata/automaton.ts: TooLarge',
  'grammar/src/automata/pattern-parser.ts: PatternError',
  'grammar/src/schema/schema-error.ts: SchemaError',
  'cards/src/start-card-process.ts: CardTimeoutError',
  'registry/src/metadata-peer/errors.ts: Departure',
  'registry/src/metadata-peer/errors.ts: Refusal',
  'releases/src/upgrade/upgrade-error.ts: UpgradeError',
  'threads/src/limited-thread.ts: ThreadLimitError',
  'transfer/src/failure.ts: TransferError',
]

const packages = join(root, 'packages')
const sources = readdirSync(packages, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((path) => !/\/(node_modules|dist|\.build)\/|\.test\.tsx?$/.test(path))
  .map((path) => ({ path: relative(packages, path), text: readFileSync(path, 'utf8') }))

test('AppError is the only error class, except for internal signals', () => {
  const found = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/class (\w+)(?:<.*>)? extends Error\b/g)].map(
      ([, name]) => `${path}: ${name}`,
    ),
  )
  expect(found.toSorted()).toEqual(ownClasses.toSorted())
})

test('shoal errors are never recognized by name', () => {
  const names = /\bname [!=]==? '(\w+(?:Error|Fault|Failure))'/g
  const foreign = ['AbortError', 'HTTPParserError', 'NotFoundError', 'TimeoutError']
  const found = sources.flatMap(({ path, text }) =>
    [...text.matchAll(names)].map(([, name = '']) => ({ path, name })),
  )
  expect(found.filter(({ name }) => !foreign.includes(name))).toEqual([])
})
