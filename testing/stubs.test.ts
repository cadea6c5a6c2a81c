import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('every dependency that has a stub is resolved to the stub', () => {
  const read = (path: string) =>
    JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))
  const { dependencies } = read('package.json')
  const { packages } = read('package-lock.json')
  for (const [name, path] of Object.entries<string>(dependencies)) {
    const copies = Object.entries<{ resolved: string }>(packages)
      .filter(([place]) => place.endsWith(`node_modules/${name}`))
      .map(([, { resolved }]) => `file:${resolved}`)
    // A second copy means that a dependency needs a version that the stub does not have (see stubs/README.md).
    expect(copies, name).toEqual([path])
  }
})
