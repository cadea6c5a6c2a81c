/** Starts a peer that pulls a model and shares it, with the real `shoal pull` and `shoal seed`. */
import type { ModelFile } from '@shoal/protocol/client'
import { expect, vi } from 'vitest'
import { setConfig } from '../settings/config.ts'
import { readPlaces } from '../settings/places.ts'
import { parseByteRate } from '../terminal/units.ts'
import type { RealRegistry } from './real-registry.ts'
import { makeHome } from './run-shoal.ts'
import { shoalHere, startShoalHere } from './shoal-here.ts'

/** Resolves when the tracker lists the peer. */
export async function seedingShoal(
  registry: RealRegistry,
  modelName: string,
  file: ModelFile,
  env: Record<string, string> = {},
) {
  const home = await lonelyHome()
  const options = { home: home.path, env: { SHOAL_REGISTRY: registry.url, ...env } }
  const pulled = await shoalHere(['pull', modelName], options)
  expect(pulled, pulled.stderr).toMatchObject({ exitCode: 0 })
  const seeding = startShoalHere(['seed'], options)
  try {
    // `expect.poll` cannot be used here, because some of these tests run concurrently.
    const isKnown = async () => (await registry.countSeeders(modelName, file)) === 1
    await vi.waitUntil(isKnown, { timeout: 40_000 })
  } catch (error) {
    await seeding.stop()
    throw error
  }

  return {
    /** Stops the peer, and returns the number of bytes that it reports as uploaded. */
    async stop(): Promise<number> {
      const { stderr, exitCode } = await seeding.stop()
      expect(exitCode, stderr).toBe(0)
      const [, gave = ''] = /uploaded (\d.*)/.exec(stderr) ?? []
      return parseByteRate(gave)
    },

    async [Symbol.asyncDispose]() {
      await seeding.stop()
      await home[Symbol.asyncDispose]()
    },
  }
}

/** Creates a home with local discovery turned off, so that peers are found only through the tracker. */
export async function lonelyHome() {
  const home = await makeHome()
  await setConfig(readPlaces({ SHOAL_HOME: home.path }), 'local-peers', 'off')
  return home
}
