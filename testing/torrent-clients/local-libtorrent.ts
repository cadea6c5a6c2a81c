import { join } from 'node:path'
import { runProgram, type StartClient } from './torrent-client.ts'

const script = join(import.meta.dirname, 'libtorrent-client.py')

/**
 * Returns a function that starts a libtorrent client. The client discovers peers on the local network of `address`,
 * which must be an address of the client's machine.
 */
export const startLocalLibtorrent =
  (address: string): StartClient =>
  async (program, { torrent, folder, home }) =>
    runProgram(program, ['-u', script, torrent, folder, address], home)
