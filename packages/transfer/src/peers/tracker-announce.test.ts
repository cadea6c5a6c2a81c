import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { announceTo, parseResponse } from './tracker-announce.ts'

const ownPort = 6881
const announcement = {
  infoHash: '00ff'.repeat(10),
  peerId: '-WW0300-123456789012',
  port: ownPort,
  leftBytes: 5,
  event: 'started' as const,
}

async function trackerThat(answers: RequestListener) {
  const server = createServer(answers).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/announce`
}

const never = new AbortController().signal
const announce = (tracker: string, signal = never) =>
  announceTo(tracker, announcement, { fetch, signal })

test('a tracker is told what BEP 3 asks for', async () => {
  let told: string | undefined
  const tracker = await trackerThat((request, response) => {
    told = request.url
    response.end('d8:completei0e10:incompletei1e8:intervali900e5:peers0:e')
  })
  expect(await announce(tracker)).toEqual({ intervalMs: 900_000, hasOthers: false, peers: [] })
  expect(told).toBe(
    `/announce?info_hash=${'%00%ff'.repeat(10)}&peer_id=-WW0300-123456789012&port=6881` +
      '&uploaded=0&downloaded=0&left=5&compact=1&event=started',
  )
})

test.each<[string, RequestListener]>([
  ['refuses', (_, response) => response.end('d14:failure reason7:unknowne')],
  ['fails', (_, response) => response.writeHead(500).end('d8:intervali1e5:peers0:e')],
  ['answers with a page', (_, response) => response.end('<!doctype html>')],
  ['answers with another value', (_, response) => response.end('i5e')],
  ['answers with nothing', (_, response) => response.end()],
  ['answers without end', (_, response) => pour(response)],
  ['hangs up', (request) => request.socket.destroy()],
])('a tracker that %s names nobody', async (_, answers) => {
  await expect(announce(await trackerThat(answers))).rejects.toThrow()
})

test('a tracker that does not answer is waited for as long as the signal says', async () => {
  const abort = new AbortController()
  const tracker = await trackerThat(() => abort.abort())
  await expect(announce(tracker, abort.signal)).rejects.toThrow()
})

test('what is no tracker names nobody', async () => {
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
const parse = (text: string) => parseResponse(Buffer.from(text, 'latin1'), ownPort)

test.each([
  ['oneself, and the registry’s own peer', `d8:completei0e10:incompletei1e5:peers6:${two}e`, false],
  ['somebody', `d8:completei1e10:incompletei1e5:peers6:${two}e`, true],
  ['somebody who is not named', 'd8:completei1e10:incompletei1e5:peers0:e', true],
  ['more than the tracker counts', `d8:completei0e10:incompletei0e5:peers12:${two}${one}e`, true],
  ['only oneself, uncounted', `d5:peers6:${one}e`, false],
  ['somebody, uncounted', `d5:peers6:${two}e`, true],
])('of a swarm of %s', (_, text, hasOthers) => {
  expect(parse(text)).toMatchObject({ hasOthers })
})

test('addresses of both families are read, and what is cut short is not', () => {
  const { peers } = parse(`d5:peers14:${one}${two}xx6:peers618:${six}e`)
  expect(peers).toEqual([
    '127.0.0.1:6881',
    '10.0.0.2:6882',
    '[2001:0000:0000:0000:0000:0000:0000:0001]:6882',
  ])
})

test('the shortest interval that a tracker allows counts', () => {
  expect(parse('d8:intervali900e12:min intervali60ee')).toMatchObject({ intervalMs: 60_000 })
})
