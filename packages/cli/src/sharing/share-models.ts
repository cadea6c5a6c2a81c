/** Gives others what is on this machine, for as long as the command runs. */
import { basename, dirname } from 'node:path'
import type { Seeder } from '@shoal/transfer'
import type { Context } from '../context.ts'
import { isLocalDiscoveryOn } from '../transfers/peer-options.ts'

export type Sharing = {
  seeder: Seeder
  /** How many files are given. */
  fileCount(): number
  close(): Promise<void>
}

type Wish = {
  uploadLimit: number | undefined
  ratio: number | undefined
  port: number
  host: string
  onDropped(file: string, message: string): void
}

/** New files are looked for so often. */
const lookEveryMs = 30_000

export async function shareModels(context: Context, wish: Wish): Promise<Sharing> {
  const { places, config } = context
  const { findShareableFiles, startSeeder } = await import('@shoal/transfer')
  const stop = new AbortController()
  const shared = new Set<string>()
  const seeder = startSeeder({
    ...wish,
    isLocalDiscoveryOn: isLocalDiscoveryOn(config),
    onDropped(path, message) {
      shared.delete(path)
      wish.onDropped(titleOf(path), message)
    },
  })

  async function look() {
    const files = await findShareableFiles(places.models, stop.signal)
    const found = new Set(files.map(({ path }) => path))
    for (const path of shared) {
      if (found.has(path)) continue
      shared.delete(path)
      seeder.unshare(path)
    }
    for (const file of files) {
      if (shared.has(file.path)) continue
      shared.add(file.path)
      seeder.share(file)
    }
  }
  await look()
  const looking = setInterval(() => {
    look().catch((error: Error) => wish.onDropped('the models', error.message))
  }, lookEveryMs)

  return {
    seeder,
    fileCount: () => shared.size,
    async close() {
      clearInterval(looking)
      stop.abort(new Error('sharing is over'))
      await seeder.close()
    },
  }
}

/** As in `shoal-tiny/shoal-tiny-Q8_0.gguf`. */
export const titleOf = (path: string): string => `${basename(dirname(path))}/${basename(path)}`
