/**
 * Tests the registry with other BitTorrent clients. Each test downloads its own file, so that only the source under
 * test can have the file's bytes. The test then checks the SHA-256 of the downloaded file. There is one `describe`
 * block per source.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, inject, test } from 'vitest'
import { freePort } from '../../../../testing/free-port.ts'
import { runsSlowTests } from '../../../../testing/slow.ts'
import { slowTest } from '../../../../testing/slow-test.ts'
import { startAria2ForMetadata } from '../../../../testing/torrent-clients/aria2.ts'
import { torrentClients } from '../../../../testing/torrent-clients/clients.ts'
import { download, downloadAtMostMs } from '../../../../testing/torrent-clients/download.ts'
import { publishTorrent } from '../testing/published-torrent.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const { aria2, transmission, libtorrent, qbittorrent, webtorrent } = torrentClients(
  inject('torrentClients'),
)
const clients = [aria2, transmission, libtorrent, qbittorrent, webtorrent]
const ownAddress = inject('ownAddress')
const options = { timeout: downloadAtMostMs + 10_000 }
let registry: TestRegistry

beforeAll(async () => {
  registry = await startTestRegistry()
})
afterAll(() => registry.close())

describe.concurrent('from the web seed only', options, () => {
  for (const client of clients) {
    test.skipIf(!client.program)(`${client.name} downloads a torrent`, async (context) => {
      const published = await publishTorrent(registry, context)
      await download(client, published.torrentPath, published)
    })
  }

  for (const client of clients) {
    test.runIf(client.program && runsSlowTests)(
      `${client.name} downloads a private torrent`,
      async (context) => {
        const published = await publishTorrent(registry, context, { isPublic: false })
        await download(client, published.torrentPath, published)
      },
    )
  }

  for (const client of [libtorrent, qbittorrent, webtorrent]) {
    test.runIf(client.program && runsSlowTests)(
      `${client.name} downloads from a magnet link`,
      async (context) => {
        const published = await publishTorrent(registry, context)
        await download(client, published.magnet, published)
      },
    )
  }

  slowTest("webtorrent downloads from a magnet link without the torrent's URL", async (context) => {
    const published = await publishTorrent(registry, context)
    await download(webtorrent, published.magnet.replace(/&xs=[^&]*/, ''), published)
  })

  // Transmission does not connect to peers on loopback, so it could not reach the metadata peer of `registry`.
  test.skipIf(!transmission.program || !ownAddress)(
    'Transmission downloads from a magnet link if the registry is not on loopback',
    async (context) => {
      const port = await freePort()
      const baseUrl = `http://${ownAddress}:${port}`
      const reachable = await startTestRegistry({ host: '0.0.0.0', port, baseUrl })
      context.onTestFinished(() => reachable.close())
      const published = await publishTorrent(reachable, context)
      await download(transmission, published.magnet, published)
    },
  )

  test.skipIf(!aria2.program)('aria2 downloads from the URL of a torrent', async (context) => {
    const published = await publishTorrent(registry, context)
    await download(aria2, published.torrentUrl, published)
  })

  // aria2 ignores the web seed in a magnet link.
  test.skipIf(!aria2.program)('aria2 gets encrypted metadata of a magnet link', async (context) => {
    const published = await publishTorrent(registry, context)
    const { folder, home, magnet, infoHash } = published
    const ending = await startAria2ForMetadata(aria2.program ?? '', {
      torrent: magnet,
      folder,
      home,
    })
    context.onTestFinished(() => ending.stop())
    await context.expect.poll(ending.isRunning, { timeout: downloadAtMostMs }).toBe(false)
    const torrent = await readFile(join(folder, `${infoHash}.torrent`))
    const info = torrent.subarray(torrent.indexOf('4:info') + '4:info'.length, -1)
    context.expect(createHash('sha1').update(info).digest('hex')).toBe(infoHash)
  })
})
