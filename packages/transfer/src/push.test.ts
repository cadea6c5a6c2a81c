import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** What a module and those of this package that it needs load of others; types load nothing. */
function packagesLoadedBy(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path)) return []
  seen.add(path)
  const source = readFileSync(path, 'utf8')
  const statements = source.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm)
  return [...statements].flatMap(([, name = '']) =>
    name.startsWith('.') ? packagesLoadedBy(join(path, '..', name), seen) : [name],
  )
}

test('the push engine loads nothing that a browser has not', () => {
  const loaded = packagesLoadedBy(join(import.meta.dirname, 'push.ts'))
  expect([...new Set(loaded)].sort()).toEqual([
    '@shoal/core/async',
    '@shoal/core/errors',
    '@shoal/network/backoff',
    '@shoal/protocol/client',
  ])
  const backoff = join(import.meta.dirname, '../../network/src/backoff.ts')
  expect(packagesLoadedBy(backoff)).toEqual([])
})
