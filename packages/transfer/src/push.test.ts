import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** The packages that a module of this package imports, directly or through other modules. Type imports are ignored. */
function packagesLoadedBy(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path)) return []
  seen.add(path)
  const source = readFileSync(path, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '') // without examples
  const statements = source.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm)
  return [...statements].flatMap(([, name = '']) =>
    name.startsWith('.') ? packagesLoadedBy(join(path, '..', name), seen) : [name],
  )
}

test('the push engine imports only packages that work in a browser', () => {
  const loaded = packagesLoadedBy(join(import.meta.dirname, 'push.ts'))
  expect([...new Set(loaded)].sort()).toEqual([
    '@shoal/core/async',
    '@shoal/core/errors',
    '@shoal/model-file/browser',
    '@shoal/network/backoff',
    '@shoal/protocol/client',
    '@shoal/protocol/retry-after',
  ])
  const backoff = join(import.meta.dirname, '../../network/src/backoff.ts')
  expect(packagesLoadedBy(backoff)).toEqual([])
})
