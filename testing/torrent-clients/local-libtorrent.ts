import { join } from 'node:path'
import { runProgram, type StartClient } from './torrent-client.ts'

const script = join(import.meta.dirname, 'libtorrent-client.py')

/**
 * Returns a function that starts a libtorrent client, which discovers peers in the local network of `address`, an
 * address of its machine.
 */
export const startLocalLibtorrent =
  (address: string): StartClient =>
  async (program, { torrent, folder, home }) =>
    runProgram(program, ['-u', script, torrent, folder, address], home)
