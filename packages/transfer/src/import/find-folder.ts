/** Reads a folder of `.gguf` files: that of LM Studio, that of llama.cpp, or any other folder. */
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { findShardInFilename } from '@shoal/model-file'
import { getStem } from '@shoal/model-file/choices'
import { findHubModels } from './find-hub.ts'
import { findOllamaModels } from './find-ollama.ts'
import {
  type Found,
  type FoundFile,
  isInside,
  readFoundFile,
  reasonOf,
  type Skipped,
  type StoreName,
  toModelName,
} from './found-file.ts'
import { listGgufFiles } from './list-gguf-files.ts'

/** Finds the models in LM Studio's folder: `<publisher>/<model>/<file>.gguf`. */
export const findStudioModels = (folder: string): Promise<Found> =>
  findInFolder(folder, (path, parts) => {
    const [publisher = '', ...rest] = parts
    const model = rest.length > 1 ? (rest.at(-2) ?? '') : basename(dirname(path))
    return {
      publisher: toModelName(publisher || 'lmstudio'),
      origin: `lmstudio ${[publisher, model].filter((part) => part !== '').join('/')}`,
      modelName: toModelName(model),
    }
  })

/**
 * Finds the models in llama.cpp's cache, in files named `<owner>_<repo>_<file>.gguf`. The owners and repos are known
 * from the names of other files, `manifest=<owner>=<repo>=<tag>.json`.
 */
export async function findLlamaCppModels(folder: string): Promise<Found> {
  const repositories = (await readdir(folder)).flatMap((name) => {
    const [, owner, repo] = /^manifest=([^=]+)=([^=]+)=/.exec(name) ?? []
    return owner && repo ? [{ owner, repo, prefix: `${owner}_${repo}_` }] : []
  })
  return await findInFolder(folder, (path) => {
    const known = repositories.find(({ prefix }) => basename(path).startsWith(prefix))
    if (known === undefined)
      return { publisher: 'llama.cpp', origin: `llama.cpp ${basename(path)}` }
    return {
      publisher: toModelName(known.owner),
      origin: `llama.cpp ${known.owner}/${known.repo}`,
      modelName: toModelName(known.repo),
      filename: basename(path).slice(known.prefix.length),
    }
  })
}

/**
 * Describes a file. `parts` contains the names of the folders between the searched folder and the file, and then the
 * filename.
 */
export type Describe = (path: string, parts: string[]) => Description
type Description = { publisher: string; origin: string; modelName?: string; filename?: string }

async function findInFolder(folder: string, describe: Describe): Promise<Found> {
  const root = await realpath(folder)
  const { paths, skipped } = await listGgufFiles(root)
  const found = await readFiles({ root, paths, describe })
  return { files: found.files, skipped: [...skipped, ...found.skipped] }
}

type Listed = {
  /** The real path of the searched folder. */
  root: string
  paths: readonly string[]
  describe: Describe
  /** The real paths of files to skip. */
  known?: ReadonlySet<string | undefined>
  signal?: AbortSignal | undefined
}

/**
 * Reads the headers of the files in a folder. A file that is found both directly and through a link is read only once.
 */
export async function readFiles({ root, paths, describe, known, signal }: Listed): Promise<Found> {
  const found: Found = { files: [], skipped: [] }
  const seen = new Set(known)
  for (const path of paths) {
    signal?.throwIfAborted()
    if (seen.has(path)) continue
    const described = describe(
      path,
      relative(root, path).split(sep).slice(0, -1).concat(basename(path)),
    )
    try {
      const real = await realpath(path)
      if (seen.has(real)) continue
      seen.add(real)
      const why = await findObstacle(root, real)
      if (why !== undefined) {
        found.skipped.push({ path, why })
        continue
      }
      const file = { filename: basename(path), sha256: undefined, ...described }
      found.files.push(await readFoundFile(real, file))
    } catch (error) {
      found.skipped.push({ path, why: reasonOf(error) })
    }
  }
  return found
}

/** Returns the reason why a file must be skipped; undefined if it can be read. */
async function findObstacle(root: string, real: string): Promise<string | undefined> {
  if (!isInside(root, real)) {
    return `it is a link to ${real}, which is outside the folder; to import it, specify that path`
  }
  // Opening a pipe would wait forever.
  return (await stat(real)).isFile() ? undefined : 'it is not a file'
}

/**
 * Finds the models at a path that the user specified: a file, a folder, or the store of a program. Everything that
 * cannot be imported is in `skipped`, with a reason.
 * @example
 * import { findAtPath } from '@shoal/transfer'
 *
 * const { files, skipped } = await findAtPath('models')
 * console.log(files.map(({ modelName, quantization }) => `${modelName}:${quantization}`), skipped)
 */
export async function findAtPath(path: string): Promise<Found> {
  const found = await stat(path)
  if (found.isFile()) {
    const real = await realpath(path)
    const described = {
      publisher: 'local',
      origin: real,
      filename: basename(path),
      sha256: /^sha256-([0-9a-f]{64})$/.exec(basename(real))?.[1],
    }
    const files: FoundFile[] = []
    const skipped: Skipped[] = []
    for (const part of await listParts(path)) {
      try {
        files.push(await readFoundFile(part, { ...described, filename: basename(part) }))
      } catch (error) {
        skipped.push({ path: part, why: reasonOf(error) })
      }
    }
    return { files, skipped }
  }
  if (!found.isDirectory())
    return { files: [], skipped: [{ path, why: 'it is not a file or folder' }] }
  const names = await readdir(path)
  if (names.includes('manifests') && names.includes('blobs')) return await findOllamaModels(path)
  if (names.some((name) => name.startsWith('models--'))) return await findHubModels(path)
  return await findInFolder(path, (file, parts) => ({
    publisher: toModelName(parts.length > 2 ? (parts.at(-3) ?? 'local') : 'local'),
    origin: file,
  }))
}

/** Returns all shards of a model if `path` is one of them; otherwise, only `path`. */
async function listParts(path: string): Promise<string[]> {
  const shard = findShardInFilename(basename(path))
  if (shard === undefined) return [path]
  const stem = getStem({ filename: basename(path) })
  const names = (await readdir(dirname(path))).filter((name) => {
    const other = findShardInFilename(name)
    return other?.count === shard.count && getStem({ filename: name }) === stem
  })
  return names.sort().map((name) => join(dirname(path), name))
}

/** For each program, the function that finds the models in a folder of its store. */
export const storeReaders: Record<StoreName, (folder: string) => Promise<Found>> = {
  ollama: findOllamaModels,
  lmstudio: findStudioModels,
  hf: findHubModels,
  'llama.cpp': findLlamaCppModels,
}

/** The folders in which a program keeps its models, most likely first. `env` is the process's environment. */
export function storeFolders(store: StoreName, { env, home, platform }: StorePlaces): string[] {
  const cache = env.XDG_CACHE_HOME ?? join(home, '.cache')
  const set = (value: string | undefined, others: string[]) => (value ? [value] : others)
  switch (store) {
    case 'ollama':
      // The last two are in the home directories of the accounts under which Linux packages run Ollama.
      return set(env.OLLAMA_MODELS, [
        join(home, '.ollama', 'models'),
        '/usr/share/ollama/.ollama/models',
        '/var/lib/ollama',
      ])
    case 'lmstudio':
      return [join(home, '.lmstudio', 'models'), join(home, '.cache', 'lm-studio', 'models')]
    case 'hf':
      return set(env.HF_HUB_CACHE ?? env.HUGGINGFACE_HUB_CACHE, [
        join(env.HF_HOME ?? join(cache, 'huggingface'), 'hub'),
      ])
    case 'llama.cpp':
      return set(env.LLAMA_CACHE, [join(llamaCppCache({ env, home, platform }), 'llama.cpp')])
  }
}

function llamaCppCache({ env, home, platform }: StorePlaces): string {
  if (platform === 'darwin') return join(home, 'Library', 'Caches')
  if (platform === 'win32') return env.LOCALAPPDATA ?? join(home, 'AppData', 'Local')
  return env.XDG_CACHE_HOME ?? join(home, '.cache')
}

export type StorePlaces = {
  env: Readonly<Record<string, string | undefined>>
  home: string
  platform: NodeJS.Platform
}
