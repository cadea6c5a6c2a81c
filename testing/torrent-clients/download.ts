import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StartClient } from './torrent-client.ts'

/** The file to download, and the folders for the client to use. */
type Order = { sha256_hash: string; filename: string; folder: string; home: string }

/** A client for tests; `program` is undefined if it is not installed. */
export type Client = { name: string; program: string | undefined; start: StartClient }

/**
 * A long timeout, because some clients try uTP first, some wait before they use a web seed, and the machine may be
 * busy.
 */
export const downloadAtMostMs = 80_000
const pollIntervalMs = 250

/**
 * Downloads a file with a client. `torrent` is a magnet link, or the path or URL of a torrent file. Resolves when the
 * file with this name has the correct SHA-256.
 */
export async function download(
  { program = '', start }: Client,
  torrent: string,
  { folder, home, filename, sha256_hash }: Order,
): Promise<void> {
  const client = await start(program, { torrent, folder, home })
  const deadline = performance.now() + downloadAtMostMs
  try {
    for (;;) {
      const isLast = !client.isRunning() || performance.now() > deadline
      if ((await hashIn(folder, filename)) === sha256_hash) return
      if (isLast) throw new Error(`the client did not download the file: ${client.output()}`)
      await sleep(pollIntervalMs)
    }
  } finally {
    await client.stop()
  }
}

async function hashIn(folder: string, filename: string): Promise<string | undefined> {
  if (!(await readdir(folder)).includes(filename)) return undefined
  const bytes = await readFile(join(folder, filename))
  return createHash('sha256').update(bytes).digest('hex')
}
