/** Tests peers that share pulled models, with a real registry and real commands. Each peer has its own home. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { slowTest } from '../../../testing/slow-test.ts'
import { realRegistry } from './testing/real-registry.ts'
import { startShoal } from './testing/run-shoal.ts'
import { lonelyHome, seedingShoal } from './testing/seeding-shoal.ts'
import { shoalHere, startShoalHere } from './testing/shoal-here.ts'

const sha256 = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

test('pull downloads a model from a peer, and reports it', async () => {
  await using registry = await realRegistry()
  const file = await registry.publish('tide', 5_000_000)
  await using peer = await seedingShoal(registry, 'tide', file)
  await using home = await lonelyHome()
  const shoalOptions = { home: home.path, env: { SHOAL_REGISTRY: registry.url } }
  const { stdout, stderr, exitCode } = await shoalHere(
    ['pull', 'tide', '--only-peers', '--json'],
    shoalOptions,
  )
  expect(exitCode, stderr).toBe(0)
  expect(stderr).toContain('100% came from 1 peer.')
  expect(stderr).toContain('Shared with peers while shoal serve is running.')
  const answer = JSON.parse(stdout)
  expect(answer.sources).toMatchObject([{ bytes: file.file_size_bytes, is_peer: true }])
  expect(await sha256(answer.path)).toBe(file.sha256_hash)
  expect(await peer.stop()).toBeGreaterThanOrEqual(file.file_size_bytes)
})

slowTest('a pull continues if the registry disappears', async () => {
  await using registry = await realRegistry()
  const file = await registry.publish('tide', 36_000_000)
  await using _peer = await seedingShoal(registry, 'tide', file)
  await using home = await lonelyHome()
  const { child, outcome } = startShoal(['pull', 'tide', '--limit-rate', '3MB', '--json'], {
    home: home.path,
    env: { SHOAL_REGISTRY: registry.url },
  })
  await once(child.stderr, 'data')
  await expect.poll(() => registry.countLeechers(file)).toBe(1)
  await registry.stop()
  const { stdout, stderr, exitCode } = await outcome
  expect(exitCode, stderr).toBe(0)
  const { sources, path } = JSON.parse(stdout)
  expect(sources.map((one: { is_peer: boolean }) => one.is_peer).sort()).toEqual([false, true])
  expect(await sha256(path)).toBe(file.sha256_hash)
})

slowTest('after a restart of the tracker, its peers announce again', async () => {
  await using registry = await realRegistry({ announceIntervalSeconds: 2 })
  const file = await registry.publish('tide', 2_000_000)
  await using _peer = await seedingShoal(registry, 'tide', file)
  await registry.stop()
  await registry.startAgain()
  expect(await registry.countSeeders('tide', file)).toBe(0)
  await expect.poll(() => registry.countSeeders('tide', file)).toBe(1)
})

slowTest('serve shares pulled models, pauses, resumes, and reports its uploads', async () => {
  await using registry = await realRegistry()
  const file = await registry.publish('tide', 5_000_000)
  await using home = await lonelyHome()
  await using other = await lonelyHome()
  const env = { SHOAL_REGISTRY: registry.url }
  const here = { home: home.path, env }
  const there = { home: other.path, env }
  const seeders = () => registry.countSeeders('tide', file)
  await shoalHere(['pull', 'tide'], here)
  await using serving = startShoalHere(['serve', '--port', '0'], here)
  try {
    const output = await serving.untilPrinted('Log ')
    expect(output.stdout).toContain('Sharing     1 file; peers can see your IP address')
    const beside = await shoalHere(['seed'], here)
    expect(beside.stderr).toContain('The models on this machine are already shared by shoal serve.')
    expect(beside.exitCode).toBe(1)
    await expect.poll(seeders).toBe(1)

    await shoalHere(['seed', 'pause'], here)
    await expect.poll(seeders).toBe(0)
    const paused = await shoalHere(['seed', 'status', '--json'], here)
    expect(JSON.parse(paused.stdout)).toMatchObject({ enabled: true, paused: true })

    await shoalHere(['seed', 'resume'], here)
    await expect.poll(seeders).toBe(1)
    const pulled = await shoalHere(['pull', 'tide', '--only-peers'], there)
    expect(pulled.exitCode, pulled.stderr).toBe(0)
    const status = async () =>
      JSON.parse((await shoalHere(['seed', 'status', '--json'], here)).stdout)
    await expect
      .poll(async () => (await status()).files[0].uploaded_bytes)
      .toBeGreaterThanOrEqual(file.file_size_bytes)
    expect(await status()).toMatchObject({ enabled: true, paused: false, error: null })
  } finally {
    await serving.stop()
  }
  expect(await seeders()).toBe(0)
})

test('a model that becomes private is not shared, but its files are kept', async () => {
  await using registry = await realRegistry()
  const file = await registry.publish('tide', 2_000_000)
  await using home = await lonelyHome()
  const shoalOptions = { home: home.path, env: { SHOAL_REGISTRY: registry.url } }
  const pulled = await shoalHere(['pull', 'tide', '--json'], shoalOptions)
  await registry.makePrivate('tide')
  await using seeding = startShoalHere(['seed'], shoalOptions)
  await seeding.untilPrinted('(0 files)')
  await seeding.stop()
  expect(await sha256(JSON.parse(pulled.stdout).path)).toBe(file.sha256_hash)
})

slowTest(
  'a model pulled with --no-peers is not shared until it is pulled without that flag',
  async () => {
    await using registry = await realRegistry()
    await registry.publish('tide', 2_000_000)
    await using home = await lonelyHome()
    const shoalOptions = { home: home.path, env: { SHOAL_REGISTRY: registry.url } }
    const withoutPeers = await shoalHere(['pull', 'tide', '--no-peers'], shoalOptions)
    expect(withoutPeers.stderr).not.toContain('Shared with peers')
    await using first = startShoalHere(['seed'], shoalOptions)
    const { stderr } = await first.untilPrinted('machine (0 files).')
    expect(stderr).toContain('tide/tide.gguf is not shared: it was pulled with --no-peers')
    await first.stop()

    const again = await shoalHere(['pull', 'tide'], shoalOptions)
    expect(again.stderr).toContain('Already downloaded.')
    expect(again.stderr).toContain('Shared with peers while shoal serve is running.')
    await using second = startShoalHere(['seed'], shoalOptions)
    await second.untilPrinted('machine (1 file).')
    await second.stop()
  },
)

test('a pulled model is shared while its registry is offline', async () => {
  await using registry = await realRegistry()
  await registry.publish('tide', 2_000_000)
  await using home = await lonelyHome()
  const shoalOptions = { home: home.path, env: { SHOAL_REGISTRY: registry.url } }
  await shoalHere(['pull', 'tide'], shoalOptions)
  await registry.stop()
  await using seeding = startShoalHere(['seed'], shoalOptions)
  await seeding.untilPrinted('(1 file).')
  await seeding.stop()
})

slowTest('on a members-only registry, members share with each other', async () => {
  await using registry = await realRegistry({ isAnonymousReadAllowed: false })
  const file = await registry.publish('tide', 2_000_000)
  const env = { SHOAL_TOKEN: registry.token }
  await using _peer = await seedingShoal(registry, 'tide', file, env)
  await using home = await lonelyHome()
  const shoalOptions = { home: home.path, env: { SHOAL_REGISTRY: registry.url, ...env } }
  const { stdout, stderr, exitCode } = await shoalHere(
    ['pull', 'tide', '--only-peers'],
    shoalOptions,
  )
  expect(exitCode, stderr).toBe(0)
  const path = stdout.trim()
  expect(await sha256(path)).toBe(file.sha256_hash)
  // The torrent of a file that only members may read is not saved, because the file must not be shared while its
  // registry is offline.
  expect(await readdir(join(dirname(path), '.shoal'))).not.toContain(`${basename(path)}.torrent`)
})
