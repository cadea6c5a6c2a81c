import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { infoDictionary, torrentFile } from '@shoal/model-file'
import Wire from 'bittorrent-protocol'
import { expect, test } from 'vitest'
import { createPieceStoreClass } from './piece-store.ts'
import { torrentClient } from './torrent-client.ts'
import { checkPrivateNames, getInternals, privateNames } from './webtorrent-internals.ts'

/** A file of one piece. */
const file = { fileSizeBytes: 5, pieceLength: 16_384 }
const kinds = Object.keys(privateNames) as (keyof typeof privateNames)[]

/** One object of each kind, from the installed libraries. */
async function installed() {
  const client = torrentClient({ host: '127.0.0.1', port: 0, uploadLimit: undefined })
  const torrent = client.add(makeTorrent(file), {
    store: createPieceStoreClass({ fd: -1, ...file }),
    bitfield: new Uint8Array(1), // no pieces are on disk, so the disk is not read
    deselect: true,
  })
  await once(torrent, 'ready')
  return {
    objects: {
      wire: new Wire(),
      client,
      torrent,
      piece: getInternals(torrent).pieces[0] as object,
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => client.destroy(() => resolve())),
  }
}

function makeTorrent({ fileSizeBytes, pieceLength }: typeof file) {
  const pieceHashes = new Uint8Array(20)
  const content = { filename: 'one', fileSizeBytes, pieceLength, pieceHashes, isPrivate: false }
  return torrentFile({ info: infoDictionary(content), webSeeds: [] })
}

test('the installed libraries have every private name', async () => {
  await using library = await installed()
  for (const kind of kinds) checkPrivateNames(kind, library.objects[kind])
})

test('a private name that an update has removed is reported, with the versions', async () => {
  await using library = await installed()
  for (const kind of kinds) {
    for (const name of Object.keys(privateNames[kind])) {
      const lacking = Object.create(library.objects[kind], { [name]: { value: undefined } })
      expect(() => checkPrivateNames(kind, lacking)).toThrow(
        new RegExp(
          `^${kind}\\.${name} is missing from webtorrent [\\d.]+ .*bittorrent-protocol [\\d.]+`,
        ),
      )
    }
  }
})

test('a client does not start with a library that lacks a private name', () => {
  const library = new URL('./torrent-client.ts', import.meta.url).href
  const script = `
    const { default: Wire } = await import('bittorrent-protocol')
    delete Wire.prototype._onPiece
    const { torrentClient } = await import(${JSON.stringify(library)})
    try {
      torrentClient({ host: '127.0.0.1', port: 0, uploadLimit: undefined })
    } catch (error) {
      console.log(error.message)
    }
    process.exit()`
  const words = ['--input-type=module', '--eval', script]
  const output = execFileSync(process.execPath, words, { cwd: import.meta.dirname })
  expect(output.toString()).toContain('wire._onPiece is missing')
})
