/**
 * Tests two machines on one network. The first machine has a model but can no longer reach the registry, so the tracker
 * does not list that machine. The second machine can find the first one only by local discovery (BEP 14).
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelFile } from '@shoal/protocol/client'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Machine, makeNeighbours, type Neighbours } from '../../../testing/neighbours.ts'
import { torrentClients } from '../../../testing/torrent-clients/clients.ts'
import { download } from '../../../testing/torrent-clients/download.ts'
import { startLocalLibtorrent } from '../../../testing/torrent-clients/local-libtorrent.ts'
import { type Somebody, somebodyAt } from './testing/somebody-at.ts'

const model = 'shoal-tiny:Q4_0'
const filename = 'shoal-tiny-Q4_0.gguf'
const models = join(import.meta.dirname, '../../../models')
const { libtorrent } = torrentClients(inject('torrentClients'))

describe.skipIf(!inject('hasNetworkNamespaces'))('on a local network', () => {
  const stack = new AsyncDisposableStack()
  let machines: Neighbours
  let registryUrl: string
  let sharer: Somebody
  let sha256_hash: string

  beforeAll(async () => {
    sha256_hash = await computeSha256(join(models, 'shoal-tiny', filename))
    machines = stack.use(makeNeighbours())
    registryUrl = `http://${machines.registryAddress}:8000`
    const publisher = await at(machines.registry)
    const address = ['--host', '0.0.0.0', '--port', '8000', '--base-url', registryUrl]
    const up = ['up', '--no-inference', '--data', join(publisher.folder, 'data'), ...address]
    await publisher.startUntil('Press Ctrl-C to stop.', ...up)
    sharer = await at(machines.first)
    await sharer.run('pull', model)
    machines.first.unplug('line')
  })
  afterAll(() => stack.disposeAsync())

  const at = async (machine: Machine) => stack.use(await somebodyAt(machine, registryUrl))
  const startToShare = (...flags: string[]) =>
    sharer.startUntil('on this machine (1 file', 'seed', ...flags)

  /** Starts a pull, begins to share on another machine, and returns the source that the waiting pull used. */
  async function findWaitingSource(...flags: string[]): Promise<string> {
    const waiting = await at(machines.second)
    const { child, outcome } = waiting.start('pull', model, '--only-peers', '--json')
    await once(child.stderr, 'data') // the pull has begun
    await using _sharing = await startToShare(...flags)
    const { stdout, stderr, exitCode } = await outcome
    expect(exitCode, stderr).toBe(0)
    const { path, sources } = JSON.parse(stdout)
    expect(await computeSha256(path)).toBe(sha256_hash)
    expect(sources).toHaveLength(1)
    return sources[0].name
  }

  test('a pull waiting for peers finds a peer that begins to share', async () => {
    expect(await findWaitingSource()).toMatch(/^192\.168\.77\.1:\d+$/)
  })

  test('peers are found only while local-peers is on', async () => {
    const other = await at(machines.second)
    await other.run('config', 'set', 'local-peers', 'off')
    const { child, outcome } = other.start('pull', model, '--only-peers')
    await once(child.stderr, 'data') // the pull has begun
    const third = await at(machines.second)
    await using _sharing = await startToShare()
    await third.run('pull', model, '--only-peers') // started later, and finds the peer
    child.kill('SIGINT')
    expect((await outcome).stderr).toContain('Stopped before any data was downloaded')

    await other.run('config', 'set', 'local-peers', 'on')
    const path = await other.run('pull', model, '--only-peers')
    expect(await computeSha256(path.trim())).toBe(sha256_hash)
  })

  test.skipIf(!libtorrent.program)(
    'given only the info hash of a model, libtorrent downloads the model',
    async () => {
      const other = await at(machines.second)
      const { files } = JSON.parse(await other.run('show', 'shoal-tiny', '--json'))
      const { torrent_info_hash } = files.find((file: ModelFile) => file.filename === filename)
      const folder = join(other.folder, 'downloads')
      await mkdir(folder)
      await using _sharing = await startToShare()
      const client = {
        name: 'libtorrent',
        program: machines.second.program(libtorrent.program ?? ''),
        start: startLocalLibtorrent('192.168.77.2'),
      }
      const order = { folder, home: other.folder, filename, sha256_hash }
      await download(client, `magnet:?xt=urn:btih:${torrent_info_hash}`, order)
    },
  )

  test('with more networks than Linux allows per socket, the first networks are used', async () => {
    machines.second.configure('net/ipv4/igmp_max_memberships', '1')
    expect(await findWaitingSource()).toMatch(/^192\.168\.77\.1:\d+$/)
  })

  test('sharing on all addresses works on a network without IPv4', async () => {
    for (const machine of [machines.first, machines.second]) {
      machine.ip('-4', 'address', 'flush', 'dev', 'lan')
    }
    expect(await findWaitingSource('--host', '::')).toMatch(/^fe80::/)
  })
})

async function computeSha256(path: string) {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
}
