/** The torrent of a public file, saved beside the file so that the file can be shared while its registry is offline. */
import { readFile, rm } from 'node:fs/promises'
import { ignoreMissing, writeWhole } from '@shoal/files'
import { getFilePaths } from './file-paths.ts'

export const keepTorrent = (path: string, torrent: Uint8Array): Promise<void> =>
  writeWhole(getFilePaths(path).torrent, torrent)

export const readKeptTorrent = (path: string): Promise<Uint8Array | undefined> =>
  readFile(getFilePaths(path).torrent).catch(ignoreMissing)

export const forgetTorrent = (path: string): Promise<void> =>
  rm(getFilePaths(path).torrent, { force: true })
