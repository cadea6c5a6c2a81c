import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Bencoded, decodeBencode } from '@shoal/model-file'
import { directNetwork } from '@shoal/network'
import { expect, onTestFinished, test } from 'vitest'
import { testAuthority, testCertificates } from '../../../../testing/tls-certificates/index.ts'
import { announceTo, parseResponse } from './tracker-announce.ts'
import { trackerFetch } from './tracker-fetch.ts'

const ownPort = 6881
const announcement = {
  infoHash: '00ff'.repeat(10),
  peerId: '-WW0300-123456789012',
  port: ownPort,
  leftBytes: 5,
  event: 'started' as const,
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const trackerThat = async (answers: RequestListener) =>
  `http://127.0.0.1:${await listen(createServer(answers))}/announce`

const never = new AbortController().signal
const announce = (tracker: string, signal = never) =>
  announceTo(tracker, announcement, { fetch: trackerFetch(directNetwork), signal })
const failureAt = (tracker: string) =>
  announce(tracker).then(
    () => expect.fail('the announce succeeded'),
    ({ failure }) => failure,
  )

test('an announce has all parameters that BEP 3 requires', async () => {
  let requestUrl: string | undefined
  const tracker = await trackerThat((request, response) => {
    requestUrl = request.url
    response.end('d8:completei0e10:incompletei1e8:intervali900e5:peers0:e')
  })
  expect(await announce(tracker)).toEqual({ intervalMs: 900_000, hasOthers: false, peers: [] })
  expect(requestUrl).toBe(
    `/announce?info_hash=${'%00%ff'.repeat(10)}&peer_id=-WW0300-123456789012&port=6881` +
      '&uploaded=0&downloaded=0&left=5&compact=1&event=started',
  )
})

test.each([200, 403, 503])(
  'the reason for a refusal with status %i is reported',
  async (status) => {
    const tracker = await trackerThat((_, response) =>
      response.writeHead(status).end('d14:failure reason7:unknowne'),
    )
    expect((await failureAt(tracker)).detail).toMatch(
      /^the tracker at [\d.:]+ refused the announce: unknown$/,
    )
  },
)

const page = { 'content-type': 'text/html' }
const noPeers = { code: 'unreachable', reason: 'no_peers' }
const otherProgram = { code: 'not_a_registry', reason: 'other_program' }

test.each<[string, RequestListener, object]>([
  ['refuses', (_, response) => response.end('d14:failure reason7:unknowne'), noPeers],
  ['fails', (_, response) => response.writeHead(500).end('d8:intervali1e5:peers0:e'), noPeers],
  [
    'returns a page',
    (_, response) => response.writeHead(200, page).end('<!doctype html>'),
    { code: 'not_a_registry', reason: 'html' },
  ],
  ['returns another value', (_, response) => response.end('i5e'), otherProgram],
  ['returns half a dictionary', (_, response) => response.end('d8:interval'), otherProgram],
  ['returns nothing', (_, response) => response.end(), otherProgram],
  [
    'sends an endless response',
    (_, response) => pour(response),
    { code: 'not_a_registry', reason: 'not_json' },
  ],
  ['hangs up', (request) => request.socket.destroy(), { code: 'unreachable', reason: 'reset' }],
])('if a tracker %s, the failure reports the cause', async (_, answers, cause) => {
  const tracker = await trackerThat(answers)
  expect(await failureAt(tracker)).toMatchObject({ ...cause, host: new URL(tracker).host })
})

test('the status of a tracker’s response is in the failure', async () => {
  const tracker = await trackerThat((_, response) => response.writeHead(503).end())
  expect(await failureAt(tracker)).toMatchObject({
    detail: expect.stringMatching(/returned status 503$/),
  })
})

test('a redirect to the same host and port is followed, but one to another host is not', async () => {
  const elsewhere = await trackerThat((_, response) => response.end('d5:peers0:e'))
  const tracker = await trackerThat(({ url = '' }, response) => {
    if (url.startsWith('/moved')) return response.end('d8:intervali900e5:peers0:e')
    const location = url.includes('away') ? elsewhere : url.replace('/announce', '/moved')
    response.writeHead(302, { location }).end()
  })
  expect(await announce(tracker)).toMatchObject({ intervalMs: 900_000 })
  expect(await failureAt(tracker.replace('/announce', '/away'))).toMatchObject({
    code: 'redirect_refused',
    reason: 'other_host',
  })
})

test('a redirect from http to https is followed only by an announce without a token', async () => {
  const secured = await secureTracker('d8:intervali900e5:peers0:e')
  const plain = await trackerThat(({ url = '' }, response) => {
    response.writeHead(308, { location: secured.origin + url }).end()
  })
  const tracker = plain.replace('127.0.0.1', 'localhost')
  const extraCa = readFileSync(testAuthority, 'utf8')
  const fetch = trackerFetch({ ...directNetwork, extraCa })
  const to = (address: string) => announceTo(address, announcement, { fetch, signal: never })
  expect(await to(tracker)).toMatchObject({ intervalMs: 900_000 })
  await expect(to(`${tracker}/token`)).rejects.toMatchObject({ failure: { reason: 'moved' } })
  expect(secured.requests).toHaveLength(1)
})

async function secureTracker(answer: string) {
  const { certificate, key } = testCertificates.valid
  const requests: (string | undefined)[] = []
  const server = createSecureServer(
    { cert: readFileSync(certificate), key: readFileSync(key) },
    (request, response) => {
      requests.push(request.url)
      response.end(answer)
    },
  )
  return { origin: `https://localhost:${await listen(server)}`, requests }
}

test('the signal limits the wait for a tracker that does not respond', async () => {
  const abort = new AbortController()
  const tracker = await trackerThat(() => abort.abort())
  await expect(announce(tracker, abort.signal)).rejects.toThrow()
})

test('an announce to an empty or unsupported tracker URL fails', async () => {
  await expect(announce('udp://127.0.0.1:1/announce')).rejects.toThrow()
  await expect(announce('')).rejects.toThrow()
})

function pour(response: Parameters<RequestListener>[1]) {
  while (!response.destroyed && response.write('9'.repeat(100_000)));
  response.once('drain', () => pour(response))
}

const one = '\x7f\x00\x00\x01\x1a\xe1' // 127.0.0.1:6881
const two = '\x0a\x00\x00\x02\x1a\xe2' // 10.0.0.2:6882
const six = `${'\x20\x01'.padEnd(15, '\0')}\x01\x1a\xe2`
const parse = (text: string) =>
  parseResponse(decodeBencode(Buffer.from(text, 'latin1')) as Map<string, Bencoded>, ownPort)

test.each([
  ['this peer and the metadata peer', `d8:completei0e10:incompletei1e5:peers6:${two}e`, false],
  ['another peer', `d8:completei1e10:incompletei1e5:peers6:${two}e`, true],
  ['another peer that is not listed', 'd8:completei1e10:incompletei1e5:peers0:e', true],
  ['more peers than are counted', `d8:completei0e10:incompletei0e5:peers12:${two}${one}e`, true],
  ['only this peer, without counts', `d5:peers6:${one}e`, false],
  ['another peer, without counts', `d5:peers6:${two}e`, true],
])('the response for a swarm of %s is parsed', (_, text, hasOthers) => {
  expect(parse(text)).toMatchObject({ hasOthers })
})

test('addresses of both families are parsed, and truncated addresses are ignored', () => {
  const { peers } = parse(`d5:peers14:${one}${two}xx6:peers618:${six}e`)
  expect(peers).toEqual([
    '127.0.0.1:6881',
    '10.0.0.2:6882',
    '[2001:0000:0000:0000:0000:0000:0000:0001]:6882',
  ])
})

test('the minimum interval of a tracker is respected', () => {
  expect(parse('d8:intervali900e12:min intervali60ee')).toMatchObject({ intervalMs: 60_000 })
})
