/**
 * Keeps what takes minutes to build and rarely changes, outside the clone: in `shoal-tests` in the user's cache folder.
 * CI tests each commit in a new clone on the same machine.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, globSync, readFileSync, statSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

export type Build = {
  /** The name of what is built, such as `llama-reference`. */
  name: string
  /** Identifies everything that the result depends on. See `hashFiles`. */
  key: string
  /** Writes the result into an empty folder. */
  build(folder: string): Promise<void>
  /**
   * Rejects if the result is wrong. Called for each result, whether it comes from the cache or not. A result is cached
   * only if this resolves.
   */
  check?(folder: string): unknown
}

/** At most this many results with the same name are kept: the last ones used. */
const maxResults = 3
/**
 * Older results are built again, because a key does not identify everything: Debian's and npm's servers, for example,
 * are not hashed.
 */
const maxAgeMs = 7 * 24 * 3_600_000
/** A folder in which a result is being written is abandoned after this time. */
const abandonedMs = 24 * 3_600_000

/**
 * Writes the result of a build into a new folder: a copy of the cached result, or a new result, which is then cached. A
 * cached result that is damaged, too old or wrong is replaced. With `SHOAL_TEST_FRESH` in `env`, everything is built.
 * Several processes can use the cache at the same time.
 * @throws if the build or the check of its result fails
 */
export async function cachedBuild(
  { name, key, build, check = () => undefined }: Build,
  into: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'shoal-tests')
  const entry = join(cache, `${name}-${key}`)
  if (!env.SHOAL_TEST_FRESH && (await isCopied(entry, into))) {
    try {
      await check(into)
      await utimes(entry, new Date(), new Date()) // marks it as used
      return
    } catch (error) {
      process.stderr.write(`${entry} is built again, because its check failed: ${error}\n`)
    }
  }
  await rm(into, { recursive: true, force: true })
  await mkdir(into)
  await build(into)
  await check(into)
  await mkdir(cache, { recursive: true })
  await store(into, entry, join(cache, `.new-${randomUUID()}`))
  await evict(cache, name)
}

/** What is known about a cached result: `manifest.json`. The result itself is in `files`. */
type Manifest = { builtMs: number; hashes: Record<string, string> }

/** Copies a cached result. Resolves to false if there is none, or if it is damaged or too old. */
async function isCopied(entry: string, into: string): Promise<boolean> {
  try {
    const manifest = JSON.parse(await readFile(join(entry, 'manifest.json'), 'utf8')) as Manifest
    if (Date.now() - manifest.builtMs > maxAgeMs) return false
    await cp(join(entry, 'files'), into, { recursive: true, verbatimSymlinks: true })
    return isSame(await hashContents(into), manifest.hashes)
  } catch (error) {
    // There is no such result, it is damaged, or another process has just removed it.
    if (error instanceof SyntaxError || isMissing(error)) return false
    throw error
  }
}

async function store(from: string, entry: string, draft: string): Promise<void> {
  try {
    await mkdir(draft)
    await cp(from, join(draft, 'files'), { recursive: true, verbatimSymlinks: true })
    const manifest: Manifest = { builtMs: Date.now(), hashes: await hashContents(from) }
    await writeFile(join(draft, 'manifest.json'), JSON.stringify(manifest))
    await rm(entry, { recursive: true, force: true })
    await rename(draft, entry)
  } catch (error) {
    // Another process has just stored the same result.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Removes the results with this name that were last used the longest time ago, and what interrupted builds have left. */
async function evict(cache: string, name: string): Promise<void> {
  const entries = await Promise.all(
    (await readdir(cache)).map(async (entry) => {
      const path = join(cache, entry)
      const found = await stat(path).catch(ignoreMissing)
      return { entry, path, usedMs: found?.mtimeMs ?? 0 }
    }),
  )
  const results = entries.filter(({ entry }) => entry.replace(/-[0-9a-f]{64}$/, '') === name)
  const old = results.toSorted((one, other) => other.usedMs - one.usedMs).slice(maxResults)
  const abandoned = entries.filter(
    ({ entry, usedMs }) => entry.startsWith('.new-') && Date.now() - usedMs > abandonedMs,
  )
  for (const { path } of [...old, ...abandoned]) await rm(path, { recursive: true, force: true })
}

/**
 * Returns the SHA-256 of the paths, modes and contents of the files that match `patterns` in the folder `root`, and of
 * `others`, which identify inputs that are not files. What `npm ci` and builds write is left out.
 * @throws if a pattern matches nothing, which would hide that an input has been moved
 */
export function hashFiles(
  root: string,
  patterns: readonly string[],
  others: readonly string[] = [],
): string {
  const hash = createHash('sha256').update(JSON.stringify([process.platform, process.arch, others]))
  for (const pattern of patterns) {
    const paths = globSync(pattern, { cwd: root, exclude: ['**/{node_modules,dist,.build}/**'] })
    const files = paths.sort().filter((path) => statSync(join(root, path)).isFile())
    if (files.length === 0) throw new Error(`${pattern} matches no file in ${root}`)
    for (const path of files) {
      const content = readFileSync(join(root, path))
      const isExecutable = (statSync(join(root, path)).mode & 0o100) !== 0
      hash.update(JSON.stringify([path, isExecutable, content.length])).update(content)
    }
  }
  return hash.digest('hex')
}

/** Returns the SHA-256 of each file in a folder, by its path. */
async function hashContents(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.flatMap((entry) =>
    entry.isFile() ? join(entry.parentPath, entry.name) : [],
  )
  const hashes: Record<string, string> = {}
  for (const path of paths.sort()) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(path), hash)
    hashes[path.slice(folder.length)] = hash.digest('hex')
  }
  return hashes
}

const isSame = (one: Record<string, string>, other: Record<string, string>) =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort())

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
