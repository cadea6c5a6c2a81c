/**
 * Determines which folder belongs to which model. Two models can have the same name if they come from two registries,
 * or from a registry and another program. The first of them gets the folder `<models>/<name>/`, and its
 * `.shoal/model.json` records this claim. The other one gets `<models>/<host>/<name>/`.
 */

import { link, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isErrno, makeFolder, removeUnfinished, unfinishedPath } from '@shoal/files'
import { fileInTheWay } from '../errors.ts'
import { shoalDirectory } from './file-paths.ts'
import { readJson } from './read-json.ts'
import { readRecord } from './record.ts'
import { findLinkTarget, refuseLink } from './refuse-link.ts'

/** A model of one registry, or an imported model. */
export type FolderOwner = {
  /** The registry's base URL; `import` for a model that was imported without a registry. */
  source: string
  /** The model's ID in the registry or, without a registry, the name that the user chose or `<publisher>/<name>`. */
  model: string
}

type Wanted = {
  modelsDirectory: string
  name: string
  /** The registry's host and port, or the publisher in another program's store. */
  host: string
  owner: FolderOwner
}

/** The file in a folder's `.shoal` that records which model the folder belongs to. */
export const claimName = 'model.json'

/**
 * Converts a registry's host and port, and its path if it has one, to a folder name that is valid on every system:
 * `localhost:8000` becomes `localhost+8000`. `hostOfFolder` can reverse the conversion if there is no path, because
 * hosts contain no `+`.
 */
export const folderOfHost = (host: string): string => host.replaceAll(':', '+').replaceAll('/', '+')

export const hostOfFolder = (folder: string): string => folder.replaceAll('+', ':')

/**
 * Finds the folder of a model, and claims it for the model, so that another model of the same name, even one that is
 * pulled at the same moment, gets another folder. Throws `file_in_the_way` if both folders belong to other models, or
 * `is_link` if the folder would have to be claimed through a link.
 * @example
 * import { claimFolder } from '@shoal/transfer'
 *
 * const owner = { source: 'http://localhost:8000', model: file.model_id }
 * const wanted = { modelsDirectory: 'models', name: 'surf', host: 'localhost:8000', owner }
 * const folder = await claimFolder(wanted) // models/surf
 */
export async function claimFolder({ modelsDirectory, name, host, owner }: Wanted): Promise<string> {
  const folders = [join(modelsDirectory, name), join(modelsDirectory, folderOfHost(host), name)]
  for (const folder of folders) {
    if (findLinkTarget(folder) === undefined) await removeUnfinished(join(folder, shoalDirectory))
    if (await isOwner(folder, owner, modelsDirectory)) return folder
  }
  throw fileInTheWay(folders[1] as string, 'belongs to another model of the same name')
}

/**
 * Like `claimFolder`, but writes nothing.
 * @example
 * import { findFolder } from '@shoal/transfer'
 *
 * const owner = { source: 'http://localhost:8000', model: file.model_id }
 * await findFolder({ modelsDirectory: 'models', name: 'surf', host: 'localhost:8000', owner })
 */
export async function findFolder({ modelsDirectory, name, host, owner }: Wanted): Promise<string> {
  const plain = join(modelsDirectory, name)
  const known = (await readClaim(plain)) ?? (await ownerOfFiles(plain)) ?? owner
  return isSameOwner(known, owner) ? plain : join(modelsDirectory, folderOfHost(host), name)
}

/**
 * Removes the claim and the folder of a model that has no files, after a pull or an import that failed. The caller must
 * hold no lock in the folder.
 */
export async function releaseFolder(folder: string): Promise<void> {
  if ((await readClaim(folder)) === undefined) return
  const names = await listNames(folder)
  if (names.some((name) => /\.gguf(\.part)?$/.test(name))) return
  const hidden = join(folder, shoalDirectory)
  await removeUnfinished(hidden)
  // If another process has just locked a file in the folder, the folder is not empty, and is kept. If another process
  // has just claimed the folder, that process repeats the claim at its next pull.
  await rm(join(hidden, claimName), { force: true })
  for (const one of [hidden, folder]) await rmdir(one).catch(unlessInUse)
}

function unlessInUse(error: NodeJS.ErrnoException) {
  const isInUse = ['ENOTEMPTY', 'EEXIST', 'EBUSY', 'ENOENT'].includes(error.code ?? '')
  if (!isInUse) throw error
}

async function isOwner(folder: string, owner: FolderOwner, root: string): Promise<boolean> {
  const known = (await readClaim(folder)) ?? (await ownerOfFiles(folder))
  return isSameOwner(known ?? (await claim(folder, owner, root)), owner)
}

const isSameOwner = (one: FolderOwner, other: FolderOwner) =>
  withoutScheme(one.source) === withoutScheme(other.source) && one.model === other.model

/** A registry that has switched from http to https is still the same registry. */
const withoutScheme = (source: string) => source.replace(/^https?:/, '')

/** Claims the folder, unless another process has just done so. Returns the owner. */
async function claim(folder: string, owner: FolderOwner, root: string): Promise<FolderOwner> {
  const place = join(folder, shoalDirectory, claimName)
  for (const one of [dirname(place), folder, dirname(folder)]) {
    if (resolve(one) !== resolve(root)) refuseLink(one) // the models folder itself may be a link
  }
  makeFolder(dirname(place))
  const unfinished = unfinishedPath(place)
  try {
    await writeFile(unfinished, `${JSON.stringify({ format: 1, ...owner }, null, 2)}\n`, {
      flush: true,
    })
    await link(unfinished, place) // unlike a rename, fails if there already is a claim
    return owner
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const known = code === 'EEXIST' ? await readClaim(folder) : undefined
    if (known !== undefined) return known
    // On a file system without hard links, such as FAT, the claim is not atomic: two processes could claim the folder.
    if (code !== 'EEXIST') await writeFile(place, JSON.stringify({ format: 1, ...owner }))
    return owner
  } finally {
    await rm(unfinished, { force: true })
  }
}

/**
 * Reads a folder's claim. Returns undefined if it is missing or damaged; in that case, the owner is determined from the
 * records of the files.
 */
const readClaim = (folder: string): Promise<FolderOwner | undefined> =>
  readJson(join(folder, shoalDirectory, claimName), isClaim)

function isClaim(value: unknown): value is FolderOwner {
  const { source, model } = (value ?? {}) as Partial<FolderOwner>
  return typeof source === 'string' && typeof model === 'string'
}

/** The owner of a folder that an earlier version of shoal created, according to the records of its files. */
async function ownerOfFiles(folder: string): Promise<FolderOwner | undefined> {
  const names = (await listNames(folder)).filter((name) => /\.gguf$/i.test(name))
  for (const name of names.sort()) {
    const record = await readRecord(join(folder, name))
    if (record?.registry && record.model_id) {
      return { source: record.registry, model: record.model_id }
    }
  }
  return undefined
}

async function listNames(folder: string): Promise<string[]> {
  return await readdir(folder).catch((error) => {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  })
}
