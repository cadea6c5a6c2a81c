import { join } from 'node:path'
import { runProgram, type StartClient } from './torrent-client.ts'

const script = join(import.meta.dirname, 'webtorrent-client.ts')

/** Runs webtorrent in its own process, because shoal changes the library in the processes that use it. */
export const startWebtorrent: StartClient = async (_program, { torrent, folder, home }) =>
  runProgram(process.execPath, [script, torrent, folder], home)
