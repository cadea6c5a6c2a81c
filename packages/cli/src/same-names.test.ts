/** Tests models with the same name from two registries. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { realRegistry } from './testing/real-registry.ts'
import { makeHome } from './testing/run-shoal.ts'
import { shoalHere } from './testing/shoal-here.ts'

test('models with the same name that are pulled from two registries at once get separate folders', async () => {
  await using home = await makeHome()
  await using one = await realRegistry()
  await using other = await realRegistry()
  const registries = [one, other]
  const published = await Promise.all(registries.map((each) => each.publish('tide', 300_000)))
  const shoal = (...words: string[]) => shoalHere(words, { home: home.path })
  const host = ({ url }: { url: string }) => url.replace('http://', '')
  const pulled = await Promise.all(registries.map((each) => shoal('pull', `${host(each)}/tide`)))
  expect(pulled.map(({ exitCode }) => exitCode)).toEqual([0, 0])
  const paths = pulled.map(({ stdout }) => stdout.trim())
  const [plain, nested] = paths.toSorted((a, b) => a.length - b.length)
  expect(plain).toBe(join(home.models, 'tide', 'tide.gguf'))
  const second = registries.find((each) => nested?.includes(host(each).replace(':', '+')))
  expect(nested).toMatch(/\+\d+.tide.tide\.gguf$/)
  expect(pulled.map(({ stderr }) => stderr).join()).toContain(
    `Another model on this machine is named tide, so this one is named ${host(second ?? one)}/tide.`,
  )

  for (const [index, each] of registries.entries()) {
    const { stdout } = await shoal('path', `${host(each)}/tide`)
    expect(stdout.trim()).toBe(paths[index])
    const record = join(stdout.trim(), '..', '.shoal', 'tide.gguf.json')
    const { sha256_hash } = JSON.parse(await readFile(record, 'utf8'))
    expect(sha256_hash).toBe(published[index]?.sha256_hash)
    const again = await shoal('pull', `${host(each)}/tide`)
    expect(again.stderr).toContain('Already downloaded.')
  }

  const removed = await shoal('rm', `${host(second ?? one)}/tide`, '--yes')
  expect(removed.exitCode).toBe(0)
  expect([plain, nested].map((path) => existsSync(path ?? ''))).toEqual([true, false])
})
