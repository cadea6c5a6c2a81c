import { once } from 'node:events'
import type { Download, ModelFile } from '@shoal/protocol'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { publish, smallGguf } from '../../testing/publish.ts'
import { twenty } from '../../testing/raw-announce.ts'
import { startTestRegistry, type TestRegistry } from '../../testing/test-registry.ts'
import {
  answer,
  bytes,
  closeBrowsers,
  offer,
  openBrowser,
  until,
} from '../../testing/tracker-browser.ts'
import { closeTrackerClients, pretendWebRtc, trackerClient } from '../../testing/tracker-client.ts'

describe('the tracker over WebSocket', () => {
  let registry: TestRegistry
  let token: string
  let url: string
  let files = 0

  beforeAll(async () => {
    registry = await startTestRegistry({ peerPort: undefined })
    token = await registry.register('ana')
    url = `ws://localhost:${registry.port}/announce`
    return () => registry.close()
  })

  afterEach(async () => {
    await closeTrackerClients()
    closeBrowsers()
  })

  async function publishFile(isPublic = true): Promise<ModelFile & { info_hash: string }> {
    files += 1
    const model = { name: `model-${files}`, is_public: isPublic }
    const file = await publish(registry, token, model, `model-${files}.gguf`, smallGguf(files))
    return { ...file, info_hash: file.torrent_info_hash ?? '' }
  }

  test('counts browsers like other clients, but does not return them to clients that use HTTP', async () => {
    const file = await publishFile()
    const seeder = trackerClient(url, file.info_hash)
    const started = await seeder.start({ left: 0, numwant: 0 })
    expect(started).toMatchObject({ complete: 1, incomplete: 0, interval: 120 })
    const path = `/v1/models/${file.model_id}/files`
    const seeders = async () => ((await registry.get(path)).body as ModelFile[])[0]?.seeders
    expect(await seeders()).toBe(1)
    const leecher = trackerClient(`http://localhost:${registry.port}/announce`, file.info_hash)
    expect(await leecher.start()).toMatchObject({ complete: 1, incomplete: 1 })
    expect(leecher.peers).toEqual([])
    expect(await seeder.scrape()).toMatchObject({ complete: 1, incomplete: 1, downloaded: 0 })
    expect(await seeder.stop({ left: 0 })).toMatchObject({ complete: 0, incomplete: 1 })
    expect(await seeders()).toBe(0)
  })

  test('connects two clients, which exchange an offer and an answer', async () => {
    const { info_hash } = await publishFile()
    // Two clients in one process would share a single socket if their URLs were the same.
    const first = trackerClient(url, info_hash)
    const second = trackerClient(url.replace('localhost', '127.0.0.1'), info_hash)
    pretendWebRtc(first.client)
    pretendWebRtc(second.client)
    await first.start({ left: 0 })
    await second.start()
    await until(() => first.peers.length > 0 && second.peers.length > 0)
    expect(first.peers).toEqual([second.peerId])
    expect(second.peers).toEqual([first.peerId])
  })

  test('relays each offer to a different peer, and an answer to the peer that sent the offer', async () => {
    const { info_hash } = await publishFile()
    const one = await openBrowser(url, 1)
    const two = await openBrowser(url, 2)
    const three = await openBrowser(url, 3)
    const subject = { action: 'announce', info_hash: bytes(info_hash) }
    for (const peer of [one, two]) expect(await peer.join(info_hash)).toMatchObject(subject)
    const offers = ['a', 'b', 'c'].map((id) => ({ offer, offer_id: bytes(id.repeat(40)) }))
    three.announce(info_hash, { offers, numwant: 3 })
    expect(await three.hear()).toMatchObject({ ...subject, incomplete: 3 })
    const heard = [await one.hear(), await two.hear()]
    for (const message of heard) {
      expect(message).toMatchObject({ ...subject, offer, peer_id: bytes(three.peerId) })
    }
    expect(new Set(heard.map(({ offer_id }) => offer_id)).size).toBe(2)

    const { offer_id } = heard[0] ?? {}
    one.announce(info_hash, { answer, offer_id, to_peer_id: bytes(three.peerId) })
    const passedOn = { ...subject, answer, offer_id, peer_id: bytes(one.peerId) }
    expect(await three.hear()).toEqual(passedOn)
    expect(await two.join(info_hash)).toMatchObject({ incomplete: 3 })
    for (const { messages } of [one, two, three]) expect(messages).toEqual([])
  })

  test('relays no offers from seeders to seeders', async () => {
    const { info_hash } = await publishFile()
    const one = await openBrowser(url, 1)
    const two = await openBrowser(url, 2)
    await one.join(info_hash, { left: 0 })
    const offers = [{ offer, offer_id: 'x' }]
    expect(await two.join(info_hash, { left: 0, offers })).toMatchObject({ complete: 2 })
    const { incomplete, complete } = await one.join(info_hash, { left: 0 })
    expect({ incomplete, complete }).toEqual({ incomplete: 0, complete: 2 }) // the first message since
    expect(one.messages).toEqual([])
  })

  test('removes a browser when its socket closes', async () => {
    const { info_hash } = await publishFile()
    const one = await openBrowser(url, 1)
    const two = await openBrowser(url, 2)
    await one.join(info_hash)
    expect(await two.join(info_hash)).toMatchObject({ incomplete: 2 })
    one.socket.close()
    await until(async () => (await two.join(info_hash)).incomplete === 1)
  })

  test('tracks a private file only for clients with its token', async () => {
    const file = await publishFile(false)
    const path = `/v1/files/${file.model_id}/download/${file.id}`
    const { body }: { body: Download } = await registry.get(path, { token })
    const announce = new URL(body.magnet_uri).searchParams.get('tr') ?? ''
    const stranger = await openBrowser(url, 1)
    const member = await openBrowser(announce.replace('http', 'ws'), 2)
    expect(await stranger.join(file.info_hash)).toEqual({
      action: 'announce',
      info_hash: bytes(file.info_hash),
      'failure reason': 'this registry does not track this info hash',
    })
    expect(await member.join(file.info_hash)).toMatchObject({ incomplete: 1 })
  })

  test('responds to a scrape of several torrents on either path', async () => {
    const [one, two] = [await publishFile(), await publishFile()]
    const info_hash = [one.info_hash, two.info_hash, twenty(9)].map(bytes)
    const nobody = { complete: 0, incomplete: 0, downloaded: 0 }
    for (const address of [url, url.replace('announce', 'scrape')]) {
      const asker = await openBrowser(address, 1)
      const { files } = await asker.ask({ action: 'scrape', info_hash })
      expect(files).toEqual({ [bytes(one.info_hash)]: nobody, [bytes(two.info_hash)]: nobody })
    }
  })

  test('sends responses in the order of the messages', async () => {
    const { info_hash } = await publishFile()
    const one = await openBrowser(url, 1)
    const events = ['started', 'stopped', 'started', 'completed', 'stopped', 'started']
    for (const event of events) one.announce(info_hash, { event })
    const present: unknown[] = []
    for (const _ of events) present.push((await one.hear()).incomplete)
    expect(present).toEqual([1, 0, 1, 1, 0, 1])
  })

  test('exports metrics of its sockets and announces', async () => {
    const { info_hash } = await publishFile()
    const one = await openBrowser(url, 1)
    await one.join(info_hash, { event: 'started' })
    const { text } = await registry.get('/metrics')
    expect(text).toMatch(/^shoal_tracker_sockets [1-9]/m)
    expect(text).toContain('announces_total{protocol="websocket",event="started"')
    closeBrowsers()
    await until(async () => {
      const { text } = await registry.get('/metrics')
      return text.includes('\nshoal_tracker_sockets 0\n')
    })
  })
})

describe('a registry that shuts down', () => {
  test('closes the sockets of its tracker', async () => {
    const registry = await startTestRegistry()
    const socket = new WebSocket(`ws://localhost:${registry.port}/announce`)
    await once(socket, 'open')
    const closed = once(socket, 'close')
    await registry.close()
    await closed
  })
})
