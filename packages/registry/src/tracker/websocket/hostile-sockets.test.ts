import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { publish, smallGguf } from '../../testing/publish.ts'
import { twenty } from '../../testing/raw-announce.ts'
import { startTestRegistry, type TestRegistry } from '../../testing/test-registry.ts'
import {
  answer,
  type Browser,
  bytes,
  closeBrowsers,
  offer,
  openBrowser,
} from '../../testing/tracker-browser.ts'

describe('a hostile WebSocket', () => {
  let registry: TestRegistry
  let url: string
  let info_hash: string

  beforeAll(async () => {
    registry = await startTestRegistry()
    url = `ws://localhost:${registry.port}/announce`
    const token = await registry.register('ana')
    const file = await publish(registry, token, { name: 'tiny' }, 'tiny.gguf', smallGguf(1))
    info_hash = file.torrent_info_hash ?? ''
    return () => registry.close()
  })
  afterEach(closeBrowsers)

  test('that sends a malformed message gets an error, and may continue', async () => {
    const hash = bytes(info_hash)
    const peer = { action: 'announce', info_hash: hash, peer_id: bytes(twenty(1)) }
    const malformed: [unknown, string][] = [
      ['{', 'JSON'],
      ['null', 'JSON object'],
      ['[]', 'JSON object'],
      ['', 'JSON'],
      [Buffer.from([0xff, 0xfe]), 'JSON'],
      [{}, 'action'],
      [{ action: 'explode' }, 'action'],
      [{ ...peer, info_hash: undefined }, 'info_hash is missing'],
      [{ ...peer, info_hash: [hash] }, 'info_hash must be a string'],
      [{ ...peer, info_hash: 'ä'.repeat(10) }, '20 bytes'],
      [{ ...peer, info_hash: '\u0100'.repeat(20) }, '20 bytes'],
      [{ ...peer, peer_id: 7 }, '20 bytes'],
      [{ ...peer, left: -1 }, 'left'],
      [{ ...peer, left: {} }, 'left'],
      [{ ...peer, uploaded: 1.5 }, 'uploaded'],
      [{ ...peer, event: 'exploded' }, 'event'],
      [{ ...peer, offers: {} }, 'list'],
      [{ ...peer, offers: [7] }, 'offer'],
      [{ ...peer, offers: [{ offer: 'sdp', offer_id: 'x' }] }, 'offer'],
      [{ ...peer, offers: [{ offer: answer, offer_id: 'x' }] }, 'offer'],
      [{ ...peer, offers: [{ offer, offer_id: 'x'.repeat(65) }] }, 'offer_id'],
      [{ ...peer, answer: true, offer_id: 'x', to_peer_id: hash }, 'answer'],
      [{ ...peer, answer, offer_id: 'x' }, 'to_peer_id'],
      [{ ...peer, answer, offer_id: 'x', to_peer_id: hash }, 'announce before you answer'],
      [{ action: 'scrape' }, 'info_hash'],
      [{ action: 'scrape', info_hash: [7] }, 'info_hash'],
      [{ action: 'scrape', info_hash: Array(51).fill(hash) }, '50'],
      [{ action: 'scrape', info_hash: bytes(twenty(8)) }, 'does not track'],
    ]
    const hostile = await openBrowser(url, 1)
    for (const [message, expected] of malformed) {
      const { 'failure reason': reason } = await hostile.ask(message)
      expect.soft(reason, JSON.stringify(message)).toContain(expected)
    }
    expect(await hostile.join(info_hash)).toMatchObject({ complete: 0, incomplete: 1 })
  })

  test('can send only session descriptions to other peers', async () => {
    const [one, two] = [await openBrowser(url, 1), await openBrowser(url, 2)]
    await one.join(info_hash)
    const sent = { offer: { ...offer, evil: 'x'.repeat(100) }, offer_id: 'x', more: 'y' }
    two.announce(info_hash, { offers: [sent], interval: 1, complete: 7 })
    expect(await one.hear()).toEqual({
      action: 'announce',
      info_hash: bytes(info_hash),
      peer_id: bytes(two.peerId),
      offer,
      offer_id: 'x',
    })
  })

  test('cannot answer on behalf of another peer, or remove that peer', async () => {
    const [one, two] = [await openBrowser(url, 1), await openBrowser(url, 2)]
    const thief = await openBrowser(url, 1)
    for (const peer of [one, two]) await peer.join(info_hash)
    const message = { answer, offer_id: 'x', to_peer_id: bytes(two.peerId) }
    expect(await thief.join(info_hash, message)).toMatchObject({
      'failure reason': 'announce before you answer',
    })
    expect(await thief.join(info_hash, { event: 'stopped' })).toMatchObject({ incomplete: 2 })
    expect(two.messages).toEqual([])
  })

  test('that sends too much is closed', async () => {
    const large = await openBrowser(url, 1)
    large.say('x'.repeat(200_000))
    expect(await large.closed()).toBe(1009)
    const busy = await openBrowser(url, 2)
    for (let turn = 0; turn < 600; turn += 1) busy.say('{}')
    expect(await busy.closed()).toBe(1008)
  })

  test('counts toward the limit of 250 sockets per address', async () => {
    const opening = Array.from({ length: 255 }, (_, number) => openBrowser(url, number))
    const opened = await Promise.allSettled(opening)
    const refused = opened.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(5)
    expect(refused[0]).toMatchObject({ reason: { message: expect.stringContaining('503') } })
    const { value } = opened[0] as PromiseFulfilledResult<Browser>
    value.socket.close()
    await value.closed()
    await openBrowser(url, 1)
  })

  test('that closes before it receives its response does no harm', async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      const socket = connect(registry.port, '127.0.0.1')
      await once(socket, 'connect')
      socket.write(upgradeRequest('/announce', 'localhost'))
      socket.resetAndDestroy()
    }
    expect((await registry.get('/healthz')).status).toBe(200)
  })
})

function upgradeRequest(path: string, host: string) {
  const key = Buffer.alloc(16).toString('base64')
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`
}
