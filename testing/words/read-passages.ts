import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

/** A piece of text that people read, with its file and line. */
export type Passage = {
  /** The path of the file, relative to the root. */
  path: string
  /** The number of the text's first line, counted from 1. */
  line: number
  kind: 'document' | 'comment' | 'text'
  text: string
}

/**
 * Reads the lines of all documents, all comments, and the text in programs: strings that contain a space, and text
 * between a page's tags. Omits strings in tests, and code in documents.
 * @throws if a source file cannot be parsed
 */
export function readPassages(root: string): Passage[] {
  const exclude = ['**/node_modules/**', '**/.build/**', '**/dist/**']
  const find = (pattern: string) => globSync(pattern, { cwd: root, exclude }).sort()
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  return [
    ...find(
      '{*.md,{docs,packages,bench,cluster,conformance,deploy,faults,findings,testing,stubs}/**/*.md}',
    ).flatMap((path) => readDocument(path, read(path))),
    ...find(
      '{packages/*/src,agents,bench,cluster,conformance,faults,release,testing}/**/*.{ts,tsx}',
    ).flatMap((path) => readSource(path, read(path))),
  ]
}

/** Reads a Markdown document. Each line is a passage, in which inline code is replaced by `…`. */
export function readDocument(path: string, source: string): Passage[] {
  let isCode = false
  return source.split('\n').flatMap((line, index) => {
    const isFence = line.trimStart().startsWith('```')
    if (isFence) isCode = !isCode
    if (isFence || isCode || line.trim() === '') return []
    const text = line.replaceAll(/`[^`]*`/g, '`…`')
    return [{ path, line: index + 1, kind: 'document' as const, text }]
  })
}

/** Reads a TypeScript source file: its comments and, unless it is a test, its strings and the text between tags. */
export function readSource(path: string, source: string): Passage[] {
  const { program, comments, errors } = parseSync(path, source)
  if (errors[0]) throw new Error(`${path} cannot be parsed: ${errors[0].message}`)
  const found: Passage[] = []
  const starts = [0, ...source.matchAll(/\n/g).map(({ index }) => index + 1)]
  const add = (kind: Passage['kind'], text: string, at: number) => {
    if (!/\S\s+\S/.test(text)) return
    const line = starts.findLastIndex((start) => start <= at) + 1
    found.push({ path, line, kind, text: text.replaceAll(/\s+/g, ' ').trim() })
  }
  for (const { value, start } of comments)
    add('comment', value.replaceAll(/(^|\n\s*)\*/g, '\n'), start)
  if (isTest(path)) return found
  new Visitor({
    Literal({ value, start }) {
      if (typeof value === 'string') add('text', value, start)
    },
    TemplateElement({ value, start }) {
      add('text', value.cooked ?? '', start)
    },
    JSXText({ value, start }) {
      add('text', value, start)
    },
  }).visit(program)
  return found
}

const isTest = (path: string) => /\.(test|contract)\.tsx?$|\/testing\/|^testing\//.test(path)
