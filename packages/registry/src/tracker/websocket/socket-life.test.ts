import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { movedClock } from '@shoal/core/testing'
import { Registry } from 'prom-client'
import { afterEach, expect, test } from 'vitest'
import { memorySwarms } from '../../swarm/memory-swarms.ts'
import { twenty } from '../../testing/raw-announce.ts'
import { closeBrowsers, offer, openBrowser } from '../../testing/tracker-browser.ts'
import { tracker } from '../announce/tracker.ts'
import { trackerMetrics } from '../announce/tracker-metrics.ts'
import { type TrackerSockets, trackerSockets } from './tracker-sockets.ts'

type Limits = NonNullable<Parameters<typeof trackerSockets>[0]['limits']>

const swarms = memorySwarms({ silentAfterMs: 60_000 })
const pollIntervalMs = 60_000
const clock = movedClock()
let server: Server
let sockets: TrackerSockets

afterEach(() => {
  closeBrowsers()
  sockets.close()
  server.close()
})

/** Starts a tracker's WebSockets, without the rest of a registry. */
async function start(limits: Limits = {}): Promise<string> {
  const torrent = { swarm: 's', isPrivate: false }
  const torrents = { find: async () => torrent, get: async () => torrent }
  const own = { for: async () => undefined }
  const metrics = trackerMetrics(new Registry(), swarms)
  const shared = { swarms, torrents, intervalSeconds: 900, metrics }
  sockets = trackerSockets({
    messages: undefined,
    ...shared,
    tracker: tracker({ ...shared, own, extraPeer: () => undefined }),
    log: { debug: () => undefined, error: console.error },
    limits: { pollIntervalMs, ...limits },
    clock,
  })
  server = createServer().on('upgrade', (request, socket, head) =>
    sockets.accept(request, { socket, head }, { address: '127.0.0.1', token: undefined }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a socket without announces is closed after some time, and other sockets are not', async () => {
  const url = await start()
  const busy = await openBrowser(url, 2)
  await busy.join(twenty(9))
  const idle = await openBrowser(url, 1)
  const closed = idle.closed()
  const pinged = once(idle.socket, 'ping')
  clock.advance(pollIntervalMs)
  await pinged
  await busy.join(twenty(9))
  expect(idle.socket.readyState).toBe(idle.socket.OPEN)
  clock.advance(pollIntervalMs)
  expect(await closed).toBe(1000)
  expect(await busy.join(twenty(9))).toMatchObject({ incomplete: 1 })
})

test('a client that no longer responds is removed', async () => {
  const url = await start()
  const gone = await openBrowser(url, 3)
  await gone.join(twenty(9))
  gone.socket.pause() // does not answer pings
  for (let polls = 0; polls < 2; polls += 1) clock.advance(pollIntervalMs)
  await expect.poll(async () => (await swarms.counts('s')).incomplete).toBe(0)
})

test('a client that does not read is disconnected before unsent data fills the memory', async () => {
  const url = await start({ unsentBytes: 100_000, messages: { atOnce: 10_000, perSecond: 1 } })
  const [deaf, busy] = [await openBrowser(url, 4), await openBrowser(url, 5)]
  await deaf.join(twenty(9))
  deaf.socket.pause()
  const large = { ...offer, sdp: 'x'.repeat(100_000) }
  let turns = 0
  while (
    (await busy.join(twenty(9), { offers: [{ offer: large, offer_id: 'x' }] })).incomplete === 2
  ) {
    turns += 1
  }
  expect(turns).toBeGreaterThan(0)
})

test('a client may send many messages over time, but is disconnected if it sends too many at once', async () => {
  const url = await start({ messages: { atOnce: 3, perSecond: 1_000 } })
  const patient = await openBrowser(url, 6)
  for (let turn = 0; turn < 6; turn += 1) {
    await patient.join(twenty(9))
    await sleep(5)
  }
  const hasty = await openBrowser(url, 7)
  for (let turn = 0; turn < 100; turn += 1) hasty.announce(twenty(9))
  expect(await hasty.closed()).toBe(1008)
})
