import { readFile } from 'node:fs/promises'
import WebTorrent from 'webtorrent'
import type { StartClient } from './torrent-client.ts'

const alone = { dht: false, lsd: false, utPex: false, natUpnp: false, natPmp: false, utp: false }

/** Runs webtorrent in this process, because it is a library. */
export const startWebtorrent: StartClient = async (_program, { torrent, folder }) => {
  const client = new WebTorrent(alone)
  const said: string[] = []
  const say = (text: unknown) => said.push(String(text))
  client.on('error', say)
  const added = client.add(torrent.startsWith('magnet:') ? torrent : await readFile(torrent), {
    path: folder,
  })
  added.on('warning', say)
  return {
    output: () => said.join('\n'),
    isRunning: () => true,
    stop: () =>
      new Promise((resolve, reject) =>
        client.destroy((error) => (error ? reject(error) : resolve())),
      ),
  }
}
