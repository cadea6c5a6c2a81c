#!/bin/sh
# bencode 4.0.1 (npm), Node 24: a BitTorrent v2 file that is decoded and encoded again is no longer the same file.
#
# The dictionary `piece layers` (BEP 52) has SHA-256 hashes as keys: 32 bytes each. Objects in JavaScript have text as
# keys, so `decode` writes a key that is not valid UTF-8 in hexadecimal. `encode` does not know that: it writes the 64
# digits. The round trip reports no error and keeps `info`, so the info hash is still right, but a client finds no
# layer for the file's root.
#
# Output: the length of the key before and after the round trip, and whether the info dictionary is the same.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts bencode@4.0.1
cat >run.mjs <<'END'
import { createHash } from 'node:crypto'
import bencode from 'bencode'

const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest()
const text = (value) => Buffer.from(`${value.length}:${value}`)
const bytes = (value) => Buffer.concat([Buffer.from(`${value.length}:`), value])
const dictionary = (...parts) => Buffer.concat([Buffer.from('d'), ...parts, Buffer.from('e')])

// A file of two pieces of 16 KiB
const layers = [sha256(Buffer.alloc(16_384, 1)), sha256(Buffer.alloc(16_384, 2))]
const root = sha256(...layers)
const file = dictionary(text('length'), Buffer.from('i32768e'), text('pieces root'), bytes(root))
const info = dictionary(
  ...[text('file tree'), dictionary(text('a.bin'), dictionary(text(''), file))],
  ...[text('meta version'), Buffer.from('i2e'), text('name'), text('a.bin')],
  ...[text('piece length'), Buffer.from('i16384e')],
)
const layersOf = (key) => dictionary(bytes(key), bytes(Buffer.concat(layers)))
const torrent = dictionary(text('info'), info, text('piece layers'), layersOf(root))

const again = Buffer.from(bencode.encode(bencode.decode(torrent)))
const at = again.indexOf('12:piece layersd') + '12:piece layersd'.length
console.log(`key: ${root.length} bytes, then ${Number.parseInt(again.toString('latin1', at), 10)}`)
console.log(`same info: ${again.includes(info)}`)
END
node run.mjs >found
cat found
printf 'key: 32 bytes, then 64\nsame info: true\n' | diff - found
