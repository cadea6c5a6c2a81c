import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { fixture, recorded } from './fixture.ts'

/** Unpacks a copy of the fixture into a temporary folder, which is deleted at the end of the scope. */
export async function openFixture() {
  const root = await mkdtemp(join(tmpdir(), 'shoal-0.1-'))
  await unpack(root)
  const home = join(root, 'home')

  return {
    /** A registry's data folder. The registry was killed, so most rows are still in SQLite's write-ahead log. */
    data: join(root, 'registry'),
    /** The folder for `SHOAL_HOME`. */
    home,
    /** The folder with the files that were being published. */
    files: join(root, 'files'),
    /** An API key of the user ana, who is an administrator. */
    apiKey: (await readFile(join(root, 'api-key'), 'utf8')).trim(),

    /** Replaces the registry's address and the recorded folder in the home's JSON files. */
    async moveHome(registryUrl: string) {
      const paths = await readdir(home, { recursive: true })
      for (const path of paths.filter((path) => path.endsWith('.json'))) {
        const text = await readFile(join(home, path), 'utf8')
        const moved = text
          .replaceAll(recorded.registryUrl, registryUrl)
          .replaceAll(recorded.root, root)
        if (moved !== text) await writeFile(join(home, path), moved)
      }
    },

    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  }
}

/**
 * Returns the browser's cookies and databases as Playwright's `storageState`, with the recorded addresses replaced by
 * these.
 */
export async function keptByBrowser(registryUrl: string, daemonUrl: string) {
  const text = await readFile(fixture.browserPath, 'utf8')
  return JSON.parse(
    text.replaceAll(recorded.registryUrl, registryUrl).replaceAll(recorded.daemonUrl, daemonUrl),
  )
}

async function unpack(root: string) {
  const tar = spawn('tar', ['-xf', '-', '-C', root], { stdio: ['pipe', 'ignore', 'inherit'] })
  tar.stdin.end(zstdDecompressSync(await readFile(fixture.archivePath)))
  const [code] = await once(tar, 'close')
  if (code !== 0) throw new Error(`tar exited with ${code}`)
}
