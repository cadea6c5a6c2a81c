import { expect, test } from 'vitest'
import { checkWords } from './check-words.ts'
import { phrases } from './phrases.ts'
import { readDocument, readSource } from './read-passages.ts'

const checkDocument = (text: string) => checkWords(readDocument('docs/tide.md', text), phrases)
const checkSource = (text: string, path = 'packages/cli/src/tide.ts') =>
  checkWords(readSource(path, text), phrases)

test('a phrase is reported with its place and a replacement', () => {
  expect(checkDocument('# Tide\n\nRun it anew, or look in vain.')).toEqual([
    'docs/tide.md:3: “in vain”: write “without success”',
    'docs/tide.md:3: “anew”: write “again”',
  ])
})

test('comments, strings and the text of a page are checked', () => {
  const source = "/**\n * So long it may\n * take.\n */\nexport const tide = 'tried in vain'\n"
  expect(checkSource(source)).toEqual([
    'packages/cli/src/tide.ts:1: “So long it may”: write a maximum: “up to 5 s”, “at most 5”',
    'packages/cli/src/tide.ts:1: “So long”: write “maximum …”, “how long …”',
    'packages/cli/src/tide.ts:5: “in vain”: write “without success”',
  ])
  const page = 'export const Tide = () => <p>\n  For members\n  alone\n</p>\n'
  expect(checkSource(page, 'packages/web/src/tide.tsx')).toEqual([
    'packages/web/src/tide.tsx:1: “For members alone”: write “only”',
  ])
})

test('code in documents and strings in tests are not checked', () => {
  expect(checkDocument('`in vain`\n\n```sh\necho in vain\n```')).toEqual([])
  expect(checkSource("test('in vain', run)", 'packages/cli/src/tide.test.ts')).toEqual([])
})

test('questions and ordinary uses of the same words are not reported', () => {
  const text = 'Who can read it?\n\nIt lasts so long that others time out. Recommended.'
  expect(checkDocument(text)).toEqual([])
})

test('a source file that cannot be parsed is an error', () => {
  expect(() => checkSource('const = 1')).toThrow('packages/cli/src/tide.ts cannot be parsed')
})
