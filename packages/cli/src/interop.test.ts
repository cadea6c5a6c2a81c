/**
 * Common BitTorrent clients download a model from `shoal seed`. The registry has lost the file's bytes, so the clients
 * can download them only from the peer. Each test has its own registry, file and peer.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RegistryConfig } from '@shoal/registry'
import { describe, expect, inject, test } from 'vitest'
import { freePort } from '../../../testing/free-port.ts'
import { runsSlowTests } from '../../../testing/slow.ts'
import { torrentClients } from '../../../testing/torrent-clients/clients.ts'
import {
  type Client,
  download,
  downloadAtMostMs,
} from '../../../testing/torrent-clients/download.ts'
import { realRegistry } from './testing/real-registry.ts'
import { seedingShoal } from './testing/seeding-shoal.ts'

const { aria2, transmission, libtorrent, qbittorrent, webtorrent } = torrentClients(
  inject('torrentClients'),
)
const clients: Client[] = [aria2, libtorrent, qbittorrent, webtorrent]
const ownAddress = inject('ownAddress')
const options = { timeout: downloadAtMostMs + 60_000 }
const sizeBytes = 5_000_000

describe.concurrent('only from a peer', options, () => {
  const sources = [
    ['torrentPath', 'a torrent file'],
    ['magnet', 'a magnet link'],
  ] as const
  for (const client of clients) {
    for (const [source, title] of sources) {
      test.runIf(client.program && runsSlowTests)(
        `${client.name} downloads from ${title}`,
        async () => {
          await using model = await sharedModel()
          await download(client, model[source], model)
          expect(await model.givenBytes()).toBeGreaterThanOrEqual(sizeBytes)
        },
      )
    }
  }

  // Transmission does not use loopback addresses, and keeps only the first peer at each address. The registry's
  // metadata peer has the same address as the seeder, so the metadata peer is turned off.
  for (const kind of ['torrent', 'magnet'] as const) {
    test.skipIf(!transmission.program || !ownAddress)(
      `Transmission downloads a ${kind}`,
      async () => {
        const port = await freePort()
        const baseUrl = `http://${ownAddress}:${port}`
        await using model = await sharedModel({
          host: '0.0.0.0',
          port,
          baseUrl,
          peerPort: undefined,
        })
        await download(transmission, kind === 'magnet' ? model.magnet : model.torrentPath, model)
        expect(await model.givenBytes()).toBeGreaterThanOrEqual(sizeBytes)
      },
    )
  }
})

/** Creates a model with bytes that only a peer still has, and folders for the BitTorrent client. */
async function sharedModel(settings: Partial<RegistryConfig> = {}) {
  await using stack = new AsyncDisposableStack()
  const registry = stack.use(await realRegistry(settings))
  const published = await registry.publish('tide', sizeBytes)
  const peer = stack.use(await seedingShoal(registry, 'tide', published))
  const parent = await mkdtemp(join(tmpdir(), 'shoal-interop-'))
  stack.defer(() => rm(parent, { recursive: true }))
  const [folder, home] = [join(parent, 'downloads'), join(parent, 'home')]
  await Promise.all([mkdir(folder), mkdir(home)])
  const links = await registry.getTorrent('tide', published, join(parent, 'tide.torrent'))
  await registry.loseBytes()
  const kept = stack.move()
  return {
    ...published,
    ...links,
    folder,
    home,
    /** Stops the peer, and returns the number of bytes that it reports as uploaded. */
    givenBytes: () => peer.stop(),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
