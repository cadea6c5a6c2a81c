import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeHome, runShoal, startShoal } from '../testing/run-shoal.ts'

/** Starts `shoal up`, waits for its document, and hands over what ends it. */
async function startUp(home: string) {
  const words = ['up', '--port', '0', '--data', 'data', '--json']
  const { child, outcome } = startShoal(words, { home })
  const [document] = await Promise.race([
    once(child.stdout, 'data'),
    outcome.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ])
  const { url, demo_models } = JSON.parse(String(document))
  return {
    url: url as string,
    demoModels: demo_models as { name: string; quantizations: string[] }[],
    async stop() {
      child.kill('SIGTERM')
      return (await outcome).exitCode
    },
  }
}

test('up publishes the demo models on an empty registry, and they can be pulled', async () => {
  await using home = await makeHome()
  const up = await startUp(home.path)
  expect(up.demoModels.map(({ name }) => name)).toEqual(['shoal-tiny', 'shoal-nano'])
  expect(up.demoModels[0]?.quantizations.toSorted()).toEqual(['Q4_0', 'Q8_0'])
  expect(existsSync(join(home.path, 'data', 'demo-unfinished'))).toBe(false)

  const env = { SHOAL_REGISTRY: up.url }
  const pulled = await runShoal(['pull', 'shoal-nano'], { home: home.path, env })
  expect(pulled.stdout).toBe(`${join(home.models, 'shoal-nano', 'shoal-nano-Q8_0.gguf')}\n`)
  expect(pulled.exitCode).toBe(0)

  const second = await runShoal(['up', '--port', '0', '--data', 'data'], { home: home.path })
  expect(second.stderr).toContain('nother registry is running on')
  expect(second.exitCode).toBe(1)

  expect(await up.stop()).toBe(0)
  const again = await startUp(home.path)
  expect(again.demoModels).toHaveLength(2)
  expect(await again.stop()).toBe(0)
})

test('a port that is taken is named', async () => {
  await using home = await makeHome()
  const up = await startUp(home.path)
  const { port } = new URL(up.url)
  const words = ['registry', '--port', port, '--data', 'other']
  const { stderr, exitCode } = await runShoal(words, { home: home.path })
  expect(stderr).toContain(`✗ Port ${port} is taken by another program.\n`)
  expect(exitCode).toBe(1)
  await up.stop()
})
