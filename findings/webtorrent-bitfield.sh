#!/bin/sh
# webtorrent 3.0.21 (npm), Node 24: a torrent that is added with a bitfield of the pieces that are already on disk counts
# damaged pieces as complete. Of each file, it hashes only one of these pieces: the second. If that piece is damaged, the
# whole file is hashed.
#
# The documentation does not say that the pieces are not checked. Whoever restores the bitfield of an earlier session, for
# example after a power failure, must therefore check the pieces first.
#
# The script damages one of six pieces of a file at a time. Output: for each damaged piece, how many of the six count as
# complete, with the bitfield and without it.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional \
  webtorrent@3.0.21 webrtc-polyfill@1.2.2 create-torrent@6.1.3
# webrtc-polyfill loads a binary that its install script would download; nothing here uses WebRTC.
printf 'export default {}; export const RTCPeerConnection = undefined, RTCSessionDescription = undefined,
  RTCIceCandidate = undefined\n' >stub.mjs
cat >hooks.mjs <<'END'
import { registerHooks } from 'node:module'

const stub = new URL('stub.mjs', import.meta.url).href
registerHooks({
  resolve: (name, context, next) =>
    name === 'webrtc-polyfill' ? { url: stub, shortCircuit: true } : next(name, context),
})
END
cat >run.mjs <<'END'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import createTorrent from 'create-torrent'
import WebTorrent from 'webtorrent'

const pieceLength = 16_384
const pieces = 6
const bytes = randomBytes(pieces * pieceLength)
bytes.name = 'file'
const options = { name: 'file', pieceLength, announceList: [] }
const torrentFile = await promisify(createTorrent)(bytes, options)

/** Returns how many pieces count as complete if the piece with this index is damaged. */
async function countComplete(damaged, bitfield) {
  const path = `${damaged}-${bitfield !== undefined}`
  mkdirSync(path)
  const content = Buffer.from(bytes)
  content[damaged * pieceLength] ^= 1
  writeFileSync(`${path}/file`, content)
  const client = new WebTorrent({ dht: false, tracker: false, lsd: false, utp: false, webSeeds: false })
  const torrent = await new Promise((resolve, reject) => {
    client.on('error', reject)
    client.add(torrentFile, { path, bitfield }, resolve)
  })
  const complete = Array.from({ length: pieces }, (_, index) => torrent.bitfield.get(index))
  await promisify(client.destroy.bind(client))()
  return complete.filter(Boolean).length
}

for (let damaged = 0; damaged < pieces; damaged += 1) {
  const counts = [await countComplete(damaged, Uint8Array.of(0b11111100)), await countComplete(damaged)]
  console.log(`piece ${damaged} damaged: ${counts[0]} complete with the bitfield, ${counts[1]} without`)
}
process.exit(0)
END
# Without the optional package utp-native, webtorrent prints a warning.
node --import ./hooks.mjs run.mjs >output 2>errors || { cat errors; exit 1; }
cat output
cat >expected <<'END'
piece 0 damaged: 6 complete with the bitfield, 5 without
piece 1 damaged: 5 complete with the bitfield, 5 without
piece 2 damaged: 6 complete with the bitfield, 5 without
piece 3 damaged: 6 complete with the bitfield, 5 without
piece 4 damaged: 6 complete with the bitfield, 5 without
piece 5 damaged: 6 complete with the bitfield, 5 without
END
diff expected output
