/** Uses a file that is already on this machine, under the name of another model, in place of a download. */
import { constants } from 'node:fs'
import { copyFile, link, realpath, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ignoreMissing, makeFolder, syncFile, syncFolder } from '@shoal/files'
import { hashFileInWorker } from '@shoal/model-file'
import type { ModelFile } from '@shoal/protocol/client'
import { getFilePaths } from './file-paths.ts'
import { type Hashed, keepRecord, type RegistryFile, toHashed } from './finished-file.ts'
import { type LocalFile, listLocalFiles } from './list-local-files.ts'
import { ensureRoom } from './room.ts'
import { isUnchanged } from './stamp.ts'

/** Finds the files on this machine that have, or should have, the same SHA-256 as a file of a registry. */
export type FindSame = (
  file: Pick<ModelFile, 'sha256_hash' | 'file_size_bytes'>,
) => Promise<LocalFile[]>

/**
 * Returns a function that finds files in a models folder. The folder is read once, when the function is first called.
 * @example
 * import { pullFile, sameFilesIn } from '@shoal/transfer'
 *
 * const [file] = await client.listFiles('tide')
 * if (!file) throw new Error('tide has no files')
 * const path = `models/tide/${file.filename}`
 * await pullFile({ client, modelName: 'tide', file, path, findSame: sameFilesIn('models') })
 */
export function sameFilesIn(modelsDirectory: string): FindSame {
  let listing: Promise<LocalFile[]> | undefined
  return async ({ sha256_hash, file_size_bytes }) => {
    listing ??= listLocalFiles(modelsDirectory)
    const same = (await listing).filter(
      (one) =>
        one.isFinished && one.fileSizeBytes === file_size_bytes && readHash(one) === sha256_hash,
    )
    return same.toSorted((a, b) => Number(b.isVerified) - Number(a.isVerified))
  }
}

type Wanted = RegistryFile & {
  /** The path of the file to be created. The caller must hold its lock. */
  path: string
  findSame: FindSame
  signal: AbortSignal
  onProgress: (bytesDone: number) => void
}

/**
 * Creates the file from one with the same SHA-256, if there is one: as a reflink, a hard link or, if neither is possible,
 * a copy. A file that has not been hashed since it last changed, and a copy, are hashed
 * first. Returns the path of the file that was found; undefined if there is none.
 */
export async function reuseFile(wanted: Wanted): Promise<string | undefined> {
  const { path, file } = wanted
  for (const one of await wanted.findSame(file)) {
    const hashed = await duplicate(one, wanted).catch(ignoreMissing) // it has been deleted since it was listed
    if (hashed === undefined) continue
    const { copy, partial } = getFilePaths(path)
    await rename(copy, path)
    await rm(partial, { force: true })
    await syncFolder(dirname(path))
    await keepRecord(path, wanted, hashed)
    return one.path
  }
  return undefined
}

/** The SHA-256 of a file; for an imported file that has not been hashed, the one in the name of the original. */
const readHash = ({ record, imported }: LocalFile) =>
  record?.sha256_hash ?? (imported?.mismatch ? undefined : imported?.claimed_sha256)

/** Creates the hidden copy. Returns its hashes; undefined, without a copy, if it is not the wanted file after all. */
async function duplicate(one: LocalFile, wanted: Wanted): Promise<Hashed | undefined> {
  const { file, signal, onProgress } = wanted
  const { copy } = getFilePaths(wanted.path)
  makeFolder(dirname(copy))
  await rm(copy, { force: true }) // left by an earlier attempt, or a link that would redirect the copy
  let isKept = false
  try {
    const isShared = await shareBytes(await realpath(one.path), copy)
    if (!isShared) {
      await ensureRoom(copy, file.file_size_bytes)
      await copyFile(one.path, copy, constants.COPYFILE_EXCL)
      await syncFile(copy)
    }
    const { record } = one
    const isKnown = isShared && one.isVerified && record && (await isUnchanged(one.path, record))
    const hashes = isKnown ? undefined : await hashFileInWorker(copy, { signal, onProgress })
    isKept = isKnown || hashes?.sha256_hash === file.sha256_hash
    if (!isKept) return undefined
    return hashes ? toHashed(hashes) : record
  } finally {
    if (!isKept) await rm(copy, { force: true })
  }
}

/** Makes a reflink or a hard link. Returns false if neither is possible, for example between two file systems. */
async function shareBytes(from: string, to: string): Promise<boolean> {
  const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE
  return await copyFile(from, to, flags)
    .catch(async () => {
      await rm(to, { force: true })
      await link(from, to)
    })
    .then(
      () => true,
      () => false,
    )
}
