/**
 * Determines which files a removal deletes, which files it leaves, and how many bytes it frees, before anything is
 * deleted.
 */
import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { getFilePaths, hiddenStem, shoalDirectory } from '../disk/file-paths.ts'
import { claimName } from '../disk/model-folder.ts'
import { findLinkTarget } from '../disk/refuse-link.ts'
import { linkLeftAlone } from '../errors.ts'

export type Removal = {
  /** Disk space freed, in bytes. Removing a link, or a file to which another hard link is kept, frees no space. */
  freedBytes: number
  /** Links that are deleted. Their targets are kept. */
  links: { path: string; target: string }[]
  /** Files whose removal frees no disk space, because another hard link to them is kept. */
  hardLinked: string[]
  /** Folders that no longer contain a model but are kept, because they contain other files (`names`). */
  keptFolders: { path: string; names: string[] }[]
}

export type RemovalPlan = {
  removal: Removal
  /** Paths to delete. Their order ensures that files left by an interrupted removal can still be listed and removed. */
  entries: string[]
  /** Folders created by shoal that may be empty afterwards, innermost first. */
  folders: string[]
}

const noFiles = new Set(['ENOENT', 'ENOTDIR'])
const isModelName = (name: string) => /^[^.].*\.gguf(\.part)?$/.test(name)

/**
 * Plans the removal of model files `<modelsDirectory>/<name>/<filename>` or
 * `<modelsDirectory>/<host>/<name>/<filename>`, finished or partial. The models folder itself may be a link. For a link
 * inside the models folder, only the link is deleted, not its target. Throws `is_link` if a model's folder is a link
 * and contains model files that are not in `paths`, because deleting the link would make those files inaccessible too.
 */
export async function planRemoval(
  modelsDirectory: string,
  paths: readonly string[],
): Promise<RemovalPlan> {
  const plan: RemovalPlan = {
    removal: { freedBytes: 0, links: [], hardLinked: [], keptFolders: [] },
    entries: [],
    folders: [],
  }
  const byFolder = Map.groupBy(paths, (path) => dirname(resolve(path)))
  for (const [folder, members] of byFolder) {
    const outer = dirname(folder)
    const isNested = dirname(outer) === resolve(modelsDirectory)
    if (outer !== resolve(modelsDirectory) && !isNested) {
      throw new Error(`${folder} is outside the models folder ${modelsDirectory}`)
    }
    await planFolder(plan, folder, new Set(members.map((path) => basename(path))))
    if (isNested && findLinkTarget(outer) === undefined) plan.folders.push(outer)
  }
  await weigh(plan)
  return plan
}

async function planFolder(plan: RemovalPlan, folder: string, filenames: Set<string>) {
  const names = await listNames(folder)
  const goes = (name: string) => filenames.has(name.replace(/\.part$/, ''))
  const others = names.filter((name) => isModelName(name) && !goes(name))
  const target = findLinkTarget(folder)
  if (target !== undefined) {
    if (others.length > 0) throw linkLeftAlone(folder, target)
    plan.entries.push(folder)
    return
  }

  const hidden = join(folder, shoalDirectory)
  const isHiddenLinked = findLinkTarget(hidden) !== undefined
  const known = isHiddenLinked ? [] : await listNames(hidden)
  for (const filename of filenames) {
    const path = join(folder, filename)
    plan.entries.push(
      ...known.filter((name) => isSidecar(name, filename)).map((name) => join(hidden, name)),
      getFilePaths(path).partial,
      path,
    )
  }
  if (others.length > 0) return
  const claims = [claimName, ...known.filter((name) => isSidecar(name, 'model'))]
  plan.entries.push(...(isHiddenLinked ? [hidden] : claims.map((name) => join(hidden, name))))
  const kept = names.filter((name) => !isModelName(name) && name !== shoalDirectory)
  if (kept.length > 0) plan.removal.keptFolders.push({ path: folder, names: kept })
  plan.folders.push(...(isHiddenLinked ? [] : [hidden]), folder)
}

/** Whether a hidden file belongs to this model file. Excludes the lock, because its holder deletes it last. */
function isSidecar(name: string, filename: string): boolean {
  const stem = hiddenStem(filename)
  if (!name.startsWith(`${stem}.`)) return false
  return /^(json|journal|torrent|download|copy|import|preset|contact)(\.[0-9a-f-]{36})?(\.new)?$/.test(
    name.slice(stem.length + 1),
  )
}

async function weigh({ entries, removal }: RemovalPlan) {
  const linked = new Map<string, { path: string; linksLeft: number; bytes: number }>()
  for (const path of entries) {
    const found = await lstat(path).catch((error) => {
      if (noFiles.has(error.code)) return undefined
      throw error
    })
    if (found === undefined) continue
    const target = findLinkTarget(path)
    const bytes = found.blocks * 512 // `stat` always counts blocks of 512 bytes; a sparse file has few
    if (target !== undefined) removal.links.push({ path, target })
    else if (found.nlink === 1) removal.freedBytes += bytes
    else {
      const key = `${found.dev} ${found.ino}`
      const { linksLeft } = linked.get(key) ?? { linksLeft: found.nlink }
      linked.set(key, { path, bytes, linksLeft: linksLeft - 1 })
    }
  }
  for (const { path, bytes, linksLeft } of linked.values()) {
    if (linksLeft > 0) removal.hardLinked.push(path)
    else removal.freedBytes += bytes
  }
}

async function listNames(directory: string): Promise<string[]> {
  return readdir(directory).catch((error) => {
    if (noFiles.has(error.code)) return []
    throw error
  })
}
