/** Beside a file that anybody may have: its torrent, so that it can be shared while its registry is away. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { placesOf } from './places.ts'

export async function keepTorrent(path: string, torrent: Uint8Array): Promise<void> {
  const place = placesOf(path).torrent
  await mkdir(dirname(place), { recursive: true })
  await writeFile(`${place}.new`, torrent)
  await rename(`${place}.new`, place)
}

export const readKeptTorrent = (path: string): Promise<Uint8Array | undefined> =>
  readFile(placesOf(path).torrent).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

export const forgetTorrent = (path: string): Promise<void> =>
  rm(placesOf(path).torrent, { force: true })
