import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { decodeBencode } from './bencode.ts'
import { infoHash } from './info-hash.ts'
import { magnetUri } from './magnet-uri.ts'
import { infoDictionary, torrentFile } from './torrent.ts'

const pieceHashes = createHash('sha1').update('one').digest()
const content = {
  filename: 'tiny (ü).gguf',
  fileSizeBytes: 5,
  pieceLength: 1_048_576,
  pieceHashes,
  isPrivate: false,
}

/** Returns the info dictionary, written by hand according to BEP 3. */
function expectedInfo(privateFlag: string): Buffer {
  return Buffer.concat([
    Buffer.from('d6:lengthi5e4:name14:tiny (ü).gguf12:piece lengthi1048576e6:pieces20:'),
    pieceHashes,
    Buffer.from(`${privateFlag}e`),
  ])
}

test('the info dictionary of a public file depends only on the file', () => {
  const info = infoDictionary(content)
  expect(Buffer.from(info)).toEqual(expectedInfo(''))
  expect(infoHash(info)).toBe(createHash('sha1').update(expectedInfo('')).digest('hex'))
})

test('a private torrent is marked as such and has a different info hash', () => {
  const info = infoDictionary({ ...content, isPrivate: true })
  expect(Buffer.from(info)).toEqual(expectedInfo('7:privatei1e'))
  expect(infoHash(info)).not.toBe(infoHash(infoDictionary(content)))
})

test('hashes that do not match the file size are rejected', () => {
  expect(() => infoDictionary({ ...content, fileSizeBytes: 2_000_000 })).toThrow(
    'the piece hashes have 20 bytes, not 40',
  )
})

test('a torrent file contains its exact info dictionary, its tracker and its web seeds', () => {
  const info = infoDictionary(content)
  const file = torrentFile({
    info,
    announce: 'http://registry.example/announce',
    webSeeds: ['http://registry.example/v1/files/chunks/abc'],
    comment: 'one file',
    createdBy: 'shoal',
  })
  const text = Buffer.from(file).toString('latin1')
  expect(text.startsWith('d8:announce32:http://registry.example/announce7:comment8:one file')).toBe(
    true,
  )
  expect(Buffer.from(file).includes(Buffer.from(info))).toBe(true)

  const decoded = decodeBencode(Buffer.from(file)) as Map<string, unknown>
  expect([...decoded.keys()]).toEqual(['announce', 'comment', 'created by', 'info', 'url-list'])
  expect(decoded.get('info')).toEqual(decodeBencode(Buffer.from(info)))
  expect(decoded.get('url-list')).toEqual([
    Buffer.from('http://registry.example/v1/files/chunks/abc'),
  ])
})

test('a torrent file without tracker and web seeds contains only the info dictionary', () => {
  const info = infoDictionary(content)
  expect(Buffer.from(torrentFile({ info, webSeeds: [] }))).toEqual(
    Buffer.concat([Buffer.from('d4:info'), info, Buffer.from('e')]),
  )
})

test('a magnet URI contains the info hash, the filename, the tracker, the web seed and the URL of the torrent file', () => {
  expect(
    magnetUri({
      infoHash: 'a'.repeat(40),
      displayName: 'tiny Q8 & co.gguf',
      trackers: ['http://registry.example/announce'],
      webSeeds: ['http://registry.example/v1/files/chunks/abc?x=1'],
      exactSource: 'http://registry.example/t.torrent',
    }),
  ).toBe(
    `magnet:?xt=urn:btih:${'a'.repeat(40)}` +
      '&dn=tiny%20Q8%20%26%20co.gguf' +
      '&tr=http%3A%2F%2Fregistry.example%2Fannounce' +
      '&ws=http%3A%2F%2Fregistry.example%2Fv1%2Ffiles%2Fchunks%2Fabc%3Fx%3D1' +
      '&xs=http%3A%2F%2Fregistry.example%2Ft.torrent',
  )
})
