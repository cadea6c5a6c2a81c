/** A client that uses webtorrent: `webtorrent-client.ts TORRENT FOLDER`. Runs until it is ended. */
import { readFile } from 'node:fs/promises'
import WebTorrent from 'webtorrent'

const [torrent = '', path = ''] = process.argv.slice(2)
const alone = { dht: false, lsd: false, utPex: false, natUpnp: false, natPmp: false, utp: false }
const client = new WebTorrent(alone)
client.on('error', console.error)
const added = client.add(torrent.startsWith('magnet:') ? torrent : await readFile(torrent), {
  path,
})
added.on('warning', console.error)
