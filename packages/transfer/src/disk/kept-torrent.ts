/** The torrent of a public file, saved beside the file so that the file can be shared while its registry is offline. */
import { rm } from 'node:fs/promises'
import { isErrno, readSmallFile, writeWhole } from '@shoal/files'
import { getFilePaths } from './file-paths.ts'

/** The largest torrents, with 65,536 pieces, have 1.3 MB. */
const maxBytes = 16 * 1024 * 1024

export const keepTorrent = (path: string, torrent: Uint8Array): Promise<void> =>
  writeWhole(getFilePaths(path).torrent, torrent)

export const readKeptTorrent = (path: string): Promise<Uint8Array | undefined> =>
  readSmallFile(getFilePaths(path).torrent, maxBytes).catch((error) => {
    if (isErrno(error, 'ENOENT', 'ENOTSUP', 'EFBIG')) return undefined // shoal has not written it
    throw error
  })

export const forgetTorrent = (path: string): Promise<void> =>
  rm(getFilePaths(path).torrent, { force: true })
