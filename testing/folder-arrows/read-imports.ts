import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

/**
 * An import of one file from another. Paths are relative to the root; for an import from another package, `to` is only
 * that package's folder.
 */
export type Import = { from: string; to: string }

/**
 * Reads the imports between files of this repository: imports, re-exports, dynamic imports and `import('…')` types.
 * @throws if a file cannot be parsed
 */
export function readImports(root: string): Import[] {
  const files = globSync(
    '{packages/*/src,agents,bench,cluster,conformance,faults,release,testing}/**/*.{ts,tsx}',
    {
      cwd: root,
      exclude: ['**/node_modules/**', '**/.build/**'],
    },
  )
  return files.sort().flatMap((from) =>
    namedIn(from, readFileSync(join(root, from), 'utf8')).flatMap((named) => {
      if (named.startsWith('.')) return { from, to: normalize(join(dirname(from), named)) }
      const ours = /^@shoal\/[^/]+/.exec(named)
      return ours ? { from, to: ours[0].replace('@shoal', 'packages') } : []
    }),
  )
}

function namedIn(path: string, source: string): string[] {
  const { program, errors } = parseSync(path, source)
  if (errors[0]) throw new Error(`${path} cannot be parsed: ${errors[0].message}`)
  const found: string[] = []
  const note = ({ source }: { source: { type: string; value?: unknown } | null }) => {
    if (typeof source?.value === 'string') found.push(source.value)
  }
  new Visitor({
    ImportDeclaration: note,
    ExportNamedDeclaration: note,
    ExportAllDeclaration: note,
    ImportExpression: note,
    TSImportType: note,
  }).visit(program)
  return found
}
