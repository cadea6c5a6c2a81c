import { expect, test } from 'vitest'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('link prints only the URL of the torrent, the magnet link or the direct URL', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const file = await registry.publish('tide', 5_000_000)
  const link = (...words: string[]) =>
    shoalHere(['link', 'tide', ...words], { home: home.path, registry: registry.url })

  const { stdout: torrent, stderr } = await link()
  expect(torrent).toMatch(`${registry.url}/v1/files/`)
  expect(torrent).toMatch(new RegExp(`/torrent/${file.id}\n$`))
  expect(stderr).toContain('tide:')
  expect((await fetch(torrent.trim())).headers.get('content-type')).toBe('application/x-bittorrent')

  const magnet = await link('--magnet')
  expect(magnet.stdout).toMatch(/^magnet:\?xt=urn:btih:[0-9a-f]{40}&\S+\n$/)

  expect(magnet.stderr).not.toContain('not public')

  const { stdout: direct } = await link('--direct')
  expect((await (await fetch(direct.trim())).arrayBuffer()).byteLength).toBe(file.file_size_bytes)

  const { stdout: document } = await link('--json')
  expect(JSON.parse(document).files).toMatchObject([{ torrent_url: torrent.trim() }])
})

test('link does not accept both --magnet and --direct', async () => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['link', 'tide', '--magnet', '--direct'], {
    home: home.path,
  })
  expect(stderr).toContain('--magnet')
  expect(exitCode).toBe(2)
})

test('link warns that few clients can start from the magnet link of a private model', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  await registry.publish('hidden', 5_000_000, false)
  const env = { SHOAL_TOKEN: registry.token }
  const options = { home: home.path, registry: registry.url, env }
  const { stdout, stderr } = await shoalHere(['link', 'hidden', '--magnet'], options)
  expect(stdout).toContain('magnet:?xt=urn:btih:')
  expect(stderr).toContain('because hidden is not public')
  expect(stderr).toContain('shoal link hidden')
})
