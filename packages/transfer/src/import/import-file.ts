import { constants } from 'node:fs'
import { copyFile, link, lstat, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ignoreMissing, isErrno, syncFile } from '@shoal/files'
import { removeLocks } from '@shoal/files/lock'
import { getFilePaths } from '../disk/file-paths.ts'
import {
  type ImportMethod,
  type ImportRecord,
  type RegistryTwin,
  readImportRecord,
  writeImportRecord,
} from '../disk/import-record.ts'
import { forgetTorrent } from '../disk/kept-torrent.ts'
import { lockModelFile } from '../disk/lock-model-file.ts'
import { claimFolder, releaseFolder } from '../disk/model-folder.ts'
import { readPreset, writePreset } from '../disk/preset.ts'
import { readRecord, writeRecord } from '../disk/record.ts'
import { ensureRoom } from '../disk/room.ts'
import { isUnchanged } from '../disk/stamp.ts'
import { cannotLink, fileChanged, fileInTheWay } from '../errors.ts'
import { toRecord } from './check-import.ts'
import type { FoundFile } from './found-file.ts'
import { type HashedFile, readHashed } from './hash-found-file.ts'
import { referTo } from './refer-to.ts'

export type ImportOptions = {
  modelsDirectory: string
  method: ImportMethod
  /**
   * The model's name. Default: the model's name in the registry (`twin`) or, without a registry, the name that was
   * found.
   */
  name?: string | undefined
  /** Whether the file may be shared with peers, if a registry has it. Default: no. */
  isShared?: boolean | undefined
  /** A registry's file with the same SHA-256. The user must have specified the registry. */
  twin?: (RegistryTwin & { filename: string; host: string }) | undefined
  /** The file's hashes, if they are known, so that it need not be hashed again. */
  hashed?: HashedFile | undefined
  /** The read-only model folder in which the file was found. */
  folder?: string | undefined
  signal?: AbortSignal | undefined
}

export type ImportedFile = {
  /** The path in the models folder. */
  path: string
  modelName: string
  /** How the file is stored. Without a `method` of its own, an earlier import is kept as it is. */
  method: ImportMethod
  /** Whether the file had already been imported, and is stored as `method` asks. */
  alreadyThere: boolean
}

/**
 * Imports a file of another program: by reference (a symbolic link), by a hard link or reflink, or as a copy. The other
 * program's file is never changed, moved or deleted, either during the import or later. The imported file can be run
 * immediately. It is hashed later, by `checkImport`. If the file has been imported before, `link` and `copy` replace
 * what is there by what they ask for, and `reference` leaves it; `isShared`, `twin` and `hashed` are recorded.
 * @throws `file_in_the_way` if a different file has this name
 * @throws `is_link` if the model's folder is a link
 * @throws `cannot_link` if `method` is `link` and neither a hard link nor a reflink is possible, for example because
 * the models folder is on another file system, or if `method` is `reference` and the models folder cannot have symbolic
 * links
 * @throws `file_changed` if the file changed during the import or no longer exists
 * @example
 * import { findAtPath, importFile } from '@shoal/transfer'
 *
 * const { files } = await findAtPath('models/tide/tide.gguf')
 * const options = { modelsDirectory: 'models', method: 'link', name: 'wave' } as const
 * for (const file of files) await importFile(file, options)
 */
export async function importFile(found: FoundFile, options: ImportOptions): Promise<ImportedFile> {
  const { modelsDirectory, method, twin } = options
  await refuseChange(found)
  const name = options.name ?? twin?.model_name ?? found.modelName
  const folder = await claimFolder({
    modelsDirectory,
    name,
    host: twin?.host ?? found.publisher,
    owner: twin
      ? { source: twin.registry, model: twin.model_id }
      : { source: 'import', model: options.name ?? `${found.publisher}/${found.modelName}` },
  })
  const path = join(folder, twin?.filename ?? found.filename)
  const modelName =
    dirname(folder) === modelsDirectory ? name : `${twin?.host ?? found.publisher}/${name}`
  const alreadyThere = (stored: ImportMethod) => ({
    ...{ path, modelName, method: stored, alreadyThere: true },
  })
  const before = await findStored(path, found)
  if (isAsAsked(before, method) && !(await hasNews(folder, found, { ...options, ...before }))) {
    return alreadyThere(before.method)
  }
  const lock = getFilePaths(path).lock
  const release = await lockModelFile(path, options)
  let isFailed = true
  try {
    const stored = await findStored(path, found)
    if (stored === 'other') throw fileInTheWay(path, 'is a different file')
    if (isAsAsked(stored, method)) {
      const { known } = stored
      if (known) await updateRecords(path, { imported: known, modelName, options })
      await keepSettings(folder, found)
      isFailed = false
      return alreadyThere(stored.method)
    }
    const known = (stored as Stored | undefined)?.known
    // The record of an earlier file. After a change of the method, the hashes are compared with those of the file.
    if (stored === undefined) await rm(getFilePaths(path).record, { force: true })
    const imported = known ? withMethod(known, options) : toImportRecord(found, options)
    await writeImportRecord(path, imported)
    try {
      await put(found, path, method)
      await updateRecords(path, { imported, modelName, options })
      await keepSettings(folder, found)
    } catch (error) {
      if (known) await writeImportRecord(path, known)
      else await rm(getFilePaths(path).imported, { force: true })
      throw error
    }
    isFailed = false
    return { path, modelName, method, alreadyThere: false }
  } finally {
    if (isFailed) {
      await removeLocks([lock], release)
      await releaseFolder(folder)
    } else release()
  }
}

type Stored = {
  method: ImportMethod
  /** The methods that ask for nothing else. An earlier import of any kind is enough for `reference`, the default. */
  answers: ImportMethod[]
  /** Undefined if shoal has not imported the file: it is the user's own link, for example. */
  known: ImportRecord | undefined
}

/**
 * Returns how the found file, or a copy of it from an earlier import, is stored at `path`; 'other' if a different file
 * is there; undefined if there is none, or only a reference to a file that no longer exists.
 */
async function findStored(path: string, found: FoundFile): Promise<Stored | 'other' | undefined> {
  const entry = await lstat(path).catch(ignoreMissing)
  if (entry === undefined) return undefined
  const known = await readImportRecord(path)
  const here = await realpath(path).catch(ignoreMissing)
  if (here === undefined) return known ? undefined : 'other'
  const [one, other] = await Promise.all([stat(here), stat(found.path)])
  const isLink = entry.isSymbolicLink()
  if (one.ino === other.ino && one.dev === other.dev) {
    if (isLink) return { method: 'reference', answers: ['reference'], known }
    const isOriginal = here === found.path
    const answers: ImportMethod[] = ['reference', 'link']
    return { method: 'link', answers: isOriginal ? [...answers, 'copy'] : answers, known }
  }
  const isCopy = known?.from === found.path && known.method !== 'reference' && !isLink
  if (!isCopy || one.size !== other.size) return 'other'
  // A reflink is a file of its own, like a copy.
  return { method: known.method, answers: ['reference', known.method, 'copy'], known }
}

/** Whether an earlier import is what `method` asks for. */
const isAsAsked = (stored: Stored | 'other' | undefined, method: ImportMethod): stored is Stored =>
  stored !== undefined && stored !== 'other' && stored.answers.includes(method)

/** Whether the records or settings of a file that has been imported before would change. */
async function hasNews(folder: string, found: FoundFile, options: ImportOptions & Stored) {
  const { twin, hashed, isShared, known } = options
  if (twin || hashed) return true
  if (known && isShared !== undefined && isShared !== known.is_shared) return true
  return found.preset !== undefined && Object.keys(await readPreset(folder)).length === 0
}

/** The record of an import that is repeated by the user with another method. */
function withMethod(known: ImportRecord, { method }: ImportOptions): ImportRecord {
  const { folder: _folder, mismatch: _mismatch, ...others } = known
  return { ...others, method }
}

/** Saves the settings of the other program, unless the model already has some. */
async function keepSettings(folder: string, { preset }: FoundFile) {
  const known = await readPreset(folder)
  if (preset && Object.keys(known).length === 0) await writePreset(folder, preset)
}

/** Creates the file under a hidden name, and then gives it its name, in place of what was there. */
async function put(found: FoundFile, path: string, method: ImportMethod) {
  const { copy } = getFilePaths(path)
  await rm(copy, { force: true })
  try {
    await place[method](found, copy, dirname(path))
    await refuseChange(found)
    await rename(copy, path)
  } finally {
    await rm(copy, { force: true })
  }
}

/** How to create the file at `path`, for the model in `folder`. */
const place: Record<
  ImportMethod,
  (found: FoundFile, path: string, folder: string) => Promise<void>
> = {
  reference: (found, path, folder) => referTo(found.path, path, folder),

  async link(found, path, folder) {
    await link(found.path, path).catch(async (error) => {
      if (isErrno(error, 'EEXIST', 'ENOENT')) throw error
      await copyByBlocks(found.path, path).catch(() => {
        throw cannotLink(found.path, folder)
      })
    })
  },

  async copy(found, path) {
    await ensureRoom(path, found.sizeBytes)
    await copyFile(found.path, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await syncFile(path)
  },
}

/** Makes a reflink: a separate file that shares the original's blocks until one of the two files changes. */
const copyByBlocks = (from: string, to: string): Promise<void> =>
  copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE)

type Known = { imported: ImportRecord; modelName: string; options: ImportOptions }

/** Updates the records of an imported file with the options, and with its hashes if they are known. */
async function updateRecords(path: string, { imported, modelName, options }: Known) {
  const { twin, hashed, isShared = imported.is_shared } = options
  const now = { ...imported, is_shared: isShared, ...claimTwin(imported.claimed_sha256, options) }
  if (twin || isShared !== imported.is_shared) await writeImportRecord(path, now)
  const record = await readRecord(path)
  const isFresh =
    hashed !== undefined &&
    (await isUnchanged(path, { ...hashed.stamp, file_size_bytes: hashed.hashes.fileSizeBytes }))
  const known = isFresh ? hashed : record && readHashed(record)
  if (known === undefined) return
  if (twin) await forgetTorrent(path)
  const file = { filename: basename(path), modelName }
  await writeRecord(path, toRecord(file, { ...known, record, imported: now }))
}

/** A registry's file cannot change, so an imported file with a twin must keep the twin's hash. */
function claimTwin(claimed: string | null, { twin, hashed }: ImportOptions) {
  if (twin === undefined) return {}
  const { registry, model_id, model_name, file_id } = twin
  return {
    claimed_sha256: claimed ?? hashed?.hashes.sha256_hash ?? null,
    twin: { registry, model_id, model_name, file_id },
  }
}

function toImportRecord(found: FoundFile, options: ImportOptions): ImportRecord {
  const { method, isShared, folder } = options
  return {
    format: 1,
    method,
    from: found.path,
    origin: found.origin,
    quantization: found.quantization,
    license: found.license,
    file_size_bytes: found.sizeBytes,
    claimed_sha256: found.sha256 ?? null,
    is_shared: isShared === true,
    imported_at: new Date().toISOString(),
    ...(folder !== undefined && { folder }),
    ...claimTwin(found.sha256 ?? null, options),
  }
}

/** Throws if the file no longer exists, or if its size has changed since it was found. */
async function refuseChange({ path, sizeBytes }: FoundFile) {
  const now = await stat(path).catch(ignoreMissing)
  if (now?.size !== sizeBytes) throw fileChanged(path)
}
