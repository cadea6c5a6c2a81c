import { join } from 'node:path'
import { runProgram, type StartClient } from './torrent-client.ts'

const script = join(import.meta.dirname, 'libtorrent-client.py')

/** Starts libtorrent; `program` is a Python interpreter that has the libtorrent module. */
export const startLibtorrent: StartClient = async (program, { torrent, folder, home }) =>
  runProgram(program, ['-u', script, torrent, folder], home)
