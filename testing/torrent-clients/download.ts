import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StartClient } from './torrent-client.ts'

/** What a client is to get, and folders of its own. */
type Order = { sha256_hash: string; filename: string; folder: string; home: string }

/** A client as the tests know it; without a program where it is not installed. */
export type Client = { name: string; program: string | undefined; start: StartClient }

/** Some try uTP first, some wait before they turn to a web seed, and the machine may be busy. */
export const downloadAtMostMs = 80_000
const pollIntervalMs = 250

/** Has a client download from a magnet, a torrent file or its address. Resolves when a file of that name has this very content. */
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
      if (isLast) throw new Error(`it did not get the file: ${client.output()}`)
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
