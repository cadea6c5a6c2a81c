import { expect, test } from 'vitest'
import { composeAnnouncements, parseAnnouncement } from './local-announcement.ts'

const host = '239.192.152.143:6771'
const makeHash = (number: number) => number.toString(16).padStart(40, '0')
const hashes = (count: number) => Array.from({ length: count }, (_, index) => makeHash(index + 1))
const parse = (text: string) => parseAnnouncement(Buffer.from(text, 'latin1'))
const one = makeHash(1)

test('one torrent is announced as BEP 14 specifies', () => {
  const packets = composeAnnouncements(host, { port: 6881, infoHashes: [one], cookie: 'abc' })
  expect(packets).toEqual([
    `BT-SEARCH * HTTP/1.1\r\nHost: ${host}\r\nPort: 6881\r\nInfohash: ${one}\r\ncookie: abc\r\n\r\n\r\n`,
  ])
})

test('a few torrents are announced in separate packets, each short enough for Transmission', () => {
  const packets = composeAnnouncements('[ff15::efc0:988f]:6771', {
    port: 65_534,
    infoHashes: hashes(5),
    cookie: 'c'.repeat(12),
  })
  expect(packets).toHaveLength(5)
  for (const packet of packets) expect(packet.length).toBeLessThanOrEqual(200)
})

test('a hundred torrents are announced in few packets, none so long that it would be fragmented', () => {
  const packets = composeAnnouncements(host, { port: 6881, infoHashes: hashes(100), cookie: 'abc' })
  expect(packets).toHaveLength(4)
  for (const packet of packets) expect(packet.length).toBeLessThanOrEqual(1400)
  expect(packets.flatMap((packet) => parse(packet)?.infoHashes ?? [])).toEqual(hashes(100))
})

test('header names in any case, extra spaces and unknown headers are accepted', () => {
  const text = `BT-SEARCH * HTTP/1.1\r\nX-New: 1\r\ninfohash:${'AB'.repeat(20)}\r\nPORT:  51413 \r\nCookie: x y\r\n\r\n`
  expect(parse(text)).toEqual({ port: 51_413, infoHashes: ['ab'.repeat(20)], cookie: 'x y' })
})

test('a repeated torrent counts once', () => {
  const line = `Infohash: ${one}\r\n`
  expect(parse(`BT-SEARCH * HTTP/1.1\r\nPort: 2000\r\n${line}${line}\r\n\r\n`)?.infoHashes).toEqual(
    [one],
  )
})

const withPort = (port: string) =>
  `BT-SEARCH * HTTP/1.1\r\nHost: ${host}\r\nPort: ${port}\r\nInfohash: ${one}\r\n\r\n\r\n`

test.each([
  ['nothing', ''],
  ['only the request line', 'BT-SEARCH * HTTP/1.1'],
  ['lines without an end', 'BT-SEARCH * HTTP/1.1\r\nHost\r\nPort'],
  ['another method', withPort('6881').replace('BT-SEARCH', 'M-SEARCH')],
  ['another version', withPort('6881').replace('1.1', '2')],
  ['no port', withPort('')],
  ['a port that is not a number', withPort('x')],
  ['a negative port', withPort('-1')],
  ['port 0', withPort('0')],
  ['a system port', withPort('22')],
  ['a port above the maximum', withPort('65536')],
  ['a port with a thousand digits', withPort('9'.repeat(1000))],
  ['a port followed by an invalid port', withPort('6881\r\nPort: x')],
  ['no info hash', `BT-SEARCH * HTTP/1.1\r\nPort: 6881\r\n\r\n\r\n`],
  ['an info hash that is too short', withPort('6881').replace(one, one.slice(1))],
  ['an info hash that is not hexadecimal', withPort('6881').replace(one, 'g'.repeat(40))],
  ['a packet that is too long', withPort('6881') + 'Infohash: '.repeat(200)],
  ['zeros', '\0'.repeat(1400)],
])('%s is not an announcement', (_, text) => {
  expect(parse(text)).toBeUndefined()
})

test('a corrupted announcement is either parsed or ignored, but never causes an error', () => {
  const random = numbersFrom(14)
  const [packet = ''] = composeAnnouncements(host, { port: 6881, infoHashes: [one], cookie: 'abc' })
  for (let round = 0; round < 20_000; round += 1) {
    const bytes = Buffer.from(packet.slice(0, random(packet.length + 1)), 'latin1')
    for (let change = random(8); change > 0; change -= 1) {
      if (bytes.length > 0) bytes[random(bytes.length)] = random(256)
    }
    const understood = parseAnnouncement(Buffer.concat([bytes, bytes].slice(random(2))))
    if (!understood) continue
    expect(understood.port).toBeGreaterThanOrEqual(1024)
    for (const infoHash of understood.infoHashes) expect(infoHash).toMatch(/^[0-9a-f]{40}$/)
  }
})

/**
 * Returns a function that returns pseudorandom integers below a given bound. The integers are the same in every run.
 */
function numbersFrom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
