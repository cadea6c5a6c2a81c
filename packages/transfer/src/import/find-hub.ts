/**
 * Reads the cache of Hugging Face's tools. The files `models--<owner>--<repo>/snapshots/<revision>/<path>` are links to
 * `models--<owner>--<repo>/blobs/<etag>`. The etag of a large file is its SHA-256.
 */
import { readdir, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isErrno, readSmallFile } from '@shoal/files'
import { type Found, isInside, readFoundFile, reasonOf, toModelName } from './found-file.ts'
import { listGgufFiles } from './list-gguf-files.ts'

/** A ref contains the name of a revision, a hash of 40 digits. */
const maxRefBytes = 1024

/**
 * Finds the GGUF files in a Hugging Face cache. A file that is in several revisions of a repository is returned once,
 * from the revision in `refs/main` if possible.
 */
export async function findHubModels(cacheFolder: string): Promise<Found> {
  const root = await realpath(cacheFolder)
  const found: Found = { files: [], skipped: [] }
  const entries = await readdir(root, { withFileTypes: true })
  for (const { name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const [, owner, ...rest] = name.split('--')
    if (!name.startsWith('models--') || owner === undefined) continue
    // The name of a repository without an owner, such as `gpt2`, has only one part.
    const repo = rest.length > 0 ? rest.join('--') : owner
    try {
      await readRepository({ root, folder: join(root, name), owner, repo }, found)
    } catch (error) {
      found.skipped.push({ path: join(root, name), why: reasonOf(error) })
    }
  }
  return found
}

type Repository = { root: string; folder: string; owner: string; repo: string }

async function readRepository({ root, folder, owner, repo }: Repository, found: Found) {
  const snapshots = await listSnapshots(folder)
  const seen = new Set<string>()
  for (const snapshot of snapshots) {
    const { paths, skipped } = await listGgufFiles(snapshot)
    found.skipped.push(...skipped)
    for (const path of paths) {
      const filename = basename(path)
      if (seen.has(filename)) continue // already found in another revision
      seen.add(filename)
      try {
        const real = await realpath(path)
        if (!isInside(root, real)) {
          const why = `it is a link to ${real}, which is outside the cache; to import it, specify that path`
          found.skipped.push({ path, why })
          continue
        }
        const etag = basename(real)
        const file = await readFoundFile(real, {
          publisher: toModelName(owner),
          origin: `hf ${owner === repo ? repo : `${owner}/${repo}`}`,
          sha256: /^[0-9a-f]{64}$/.test(etag) ? etag : undefined,
          filename,
          modelName: toModelName(repo),
        })
        found.files.push(file)
      } catch (error) {
        const isUnfinished = isErrno(error, 'ENOENT')
        const why = isUnfinished ? 'its blob is missing or not fully downloaded' : reasonOf(error)
        found.skipped.push({ path, why })
      }
    }
  }
}

/** The folders of the revisions: first the one in `refs/main`, then the others. */
async function listSnapshots(folder: string): Promise<string[]> {
  const place = join(folder, 'snapshots')
  const names = await readdir(place).catch((error) => {
    if (isErrno(error, 'ENOENT')) return [] // nothing has been downloaded yet
    throw error
  })
  const main = await readSmallFile(join(folder, 'refs', 'main'), maxRefBytes).then(
    String,
    (error) => {
      reasonOf(error) // throws if the error is not about the file; without the file, no revision is preferred
      return ''
    },
  )
  const isMain = (name: string) => name === main.trim()
  const sorted = names.sort().toSorted((a, b) => Number(isMain(b)) - Number(isMain(a)))
  return sorted.map((name) => join(place, name))
}
