import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The modules that a source file imports at run time. */
const imported = /^(?:import|export)(?! type\b)[^'"]*?from '([^']+)'/gm

function importsBehind(entrance: URL, seen = new Set<string>()): Set<string> {
  for (const [, name = ''] of readFileSync(entrance, 'utf8').matchAll(imported)) {
    const isOurs = name.startsWith('.')
    const next = isOurs ? new URL(name, entrance).href : name
    if (seen.has(next)) continue
    seen.add(next)
    if (isOurs) importsBehind(new URL(next), seen)
  }
  return seen
}

test('choices.ts runs in a browser: it imports no Node modules, and no packages except core', () => {
  const names = [...importsBehind(new URL('choices.ts', import.meta.url))]
  expect(names.filter((name) => name.endsWith('/context-memory.ts'))).toHaveLength(1)
  expect(names.filter((name) => !/^(?:file:|@shoal\/core\/)/.test(name))).toEqual([])
})
