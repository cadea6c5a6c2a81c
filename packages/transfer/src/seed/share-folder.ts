import { basename, dirname } from 'node:path'
import type { SeedSetup, SeedStanding } from './seed-messages.ts'
import { startSeeder } from './seeder.ts'
import { findShareableFiles } from './shareable-files.ts'

export type SharingOptions = Partial<SeedSetup> & {
  modelsDirectory: string
  /** Told of a file that is not shared, or no longer. */
  onDropped(file: string, message: string): void
}

export type Sharing = {
  standing(): SeedStanding
  pause(): void
  resume(): void
  close(): Promise<void>
}

/** Files that come and go are looked for so often. */
const lookEveryMs = 30_000

/** Gives others the pulled files of a folder of models, those of private models excepted. Resolves when it has looked once. */
export async function shareFolder(options: SharingOptions): Promise<Sharing> {
  const { modelsDirectory, onDropped, ...setup } = options
  const stop = new AbortController()
  const shared = new Set<string>()
  const seeder = startSeeder({
    ...setup,
    onDropped(path, message) {
      shared.delete(path)
      onDropped(sharedName(path), message)
    },
  })

  async function look() {
    const files = await findShareableFiles(modelsDirectory, stop.signal)
    const found = new Set(files.map(({ path }) => path))
    for (const path of [...shared].filter((one) => !found.has(one))) {
      shared.delete(path)
      seeder.unshare(path)
    }
    for (const file of files.filter(({ path }) => !shared.has(path))) {
      shared.add(file.path)
      seeder.share(file)
    }
  }
  await look()
  const looking = setInterval(() => {
    look().catch((error: Error) => {
      if (!stop.signal.aborted) onDropped(modelsDirectory, error.message)
    })
  }, lookEveryMs)
  looking.unref()

  return {
    standing: seeder.standing,
    pause: seeder.pause,
    resume: seeder.resume,
    async close() {
      clearInterval(looking)
      stop.abort(new Error('sharing is over'))
      await seeder.close()
    },
  }
}

/** As in `shoal-tiny/shoal-tiny-Q8_0.gguf`. */
export const sharedName = (path: string): string => `${basename(dirname(path))}/${basename(path)}`
