/**
 * The releases that a server offers. Each release is a folder with files that were written by `npm run release`, or
 * by the server when it packed its own program. The folder's name consists of the release's version and the hash of
 * its checksums.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { exists, isErrno, makeFolder, syncFolder } from '@shoal/files'
import { conflict, unprocessable } from '../errors.ts'
import { type Archive, compareVersions, parseArchiveName, releaseFiles } from '../format/index.ts'
import { removeOldDrafts } from '../old-drafts.ts'
import { findFiles, readSignedFiles } from './signed-files.ts'

export type ReleaseFile = { name: string; sha256: string; sizeBytes: number }

export type Release = {
  /** The name of the release's folder. */
  id: string
  /** The folder's path. */
  folder: string
  version: string
  /** The archives, one per platform. There is at least one. Each archive includes Node. */
  archives: Archive[]
  /** The files that are listed in `SHA256SUMS` and present in the folder. */
  files: ReleaseFile[]
  /** The public key with which the release was signed, in PEM format. */
  publicKey: string
  /** The SHA-256 of the public key (SPKI, DER). */
  keyFingerprint: string
}

/** A release that is the newest for a platform. */
export type Offered = { release: Release; archive: Archive; file: ReleaseFile }

export interface Releases {
  /** Returns all releases, newest first. */
  list(): Promise<Release[]>
  /** Returns the newest release for each platform. Omits damaged releases, and passes their errors to `onDamaged`. */
  listOffered(onDamaged: (error: unknown) => void): Promise<Offered[]>
  /**
   * Verifies a release and copies it to the server's releases. `paths` contains the path of a folder with all files
   * of the release, or the paths of some of its files. These must include the checksums, the signature, the key and an
   * archive. A release that has already been added is not copied again. If the newest release was signed with a
   * different key, `confirmKey` is called first. If `confirmKey` throws, nothing is added.
   * @throws `unprocessable` if the files are not a complete, undamaged and signed release; `conflict` if there is
   * already a different release of the same version for the same platform
   */
  add(
    paths: readonly string[],
    confirmKey: (keyFingerprint: string) => Promise<void>,
  ): Promise<{ release: Release; isNew: boolean }>
  /**
   * Adds a release that `write` writes to an empty folder, including the checksums and the signature. If `write`
   * throws, nothing is added. Until the release has been added, `maker` is part of the folder's name.
   */
  make(maker: string, write: (folder: string) => Promise<void>): Promise<Release>
  /** Deletes the folder that `make` left behind if a process that called it with this `maker` was killed. */
  removeUnfinished(maker: string): Promise<void>
  /** The folder with all releases, which may not exist yet. */
  readonly directory: string
}

/** Prefix of the folders in which releases are written. Files in these folders are never sent to clients. */
const draftPrefix = '.adding-'

/** Opens the folder with all releases, which is created when the first release is added. */
export function openReleases(directory: string): Releases {
  async function list(onDamaged = rethrow): Promise<Release[]> {
    const names = await listFolders(directory)
    const ids = names.filter((name) => !name.startsWith('.'))
    const read = await Promise.allSettled(ids.map((id) => readRelease(join(directory, id))))
    for (const one of read) if (one.status === 'rejected') onDamaged(one.reason)
    return sortNewestFirst(read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
  }

  /** Adds a release that `write` writes to an empty folder. `write` returns the release's ID. */
  async function place(draftName: string, write: (draft: string) => Promise<string>) {
    makeFolder(directory, 0o750)
    await removeOldDrafts(directory, draftPrefix)
    const draft = join(directory, draftName)
    await mkdir(draft, { mode: 0o750 })
    try {
      const target = join(directory, await write(draft))
      await syncFolder(draft)
      const isNew = await rename(draft, target).then(() => true, ignoreExisting)
      await syncFolder(directory)
      return { release: await readRelease(target), isNew }
    } finally {
      await rm(draft, { recursive: true, force: true }) // does not exist if it was renamed
    }
  }

  return {
    directory,

    list: () => list(),

    async listOffered(onDamaged) {
      const all = (await list(onDamaged)).flatMap((release) =>
        release.archives.flatMap((archive) => {
          const file = release.files.find(({ name }) => name === archive.name)
          return file ? [{ release, archive, file }] : []
        }),
      )
      const platforms = new Set(all.map(({ archive }) => archive.platform))
      return [...platforms].toSorted().flatMap((platform) => {
        const some = all.filter(({ archive }) => archive.platform === platform)
        return (
          some.toSorted((a, b) => compareVersions(b.archive.version, a.archive.version))[0] ?? []
        )
      })
    },

    async add(paths, confirmKey) {
      const files = await findFiles(paths)
      const signed = await readSignedFiles(files)
      // A folder must contain every file that the checksums list. Other files in the folder are ignored.
      const isFolder = paths.length === 1
      for (const name of isFolder ? signed.sums.keys() : []) {
        if (!files.has(name)) throw unprocessable(`${name} is missing from ${paths[0]}`)
      }
      const parts = [...files].filter(([name]) => signed.sums.has(name) || isDescription(name))
      if (!isFolder && parts.length < files.size) {
        const other = paths.find((path) => !parts.some(([, part]) => part === path))
        throw unprocessable(`${releaseFiles.checksums} does not list ${other}`)
      }
      const archives = findArchives(parts.map(([name]) => name))
      const id = toId(archives, signed.id)
      const target = join(directory, id)
      if (await exists(target)) return { release: await readRelease(target), isNew: false }
      const earlier = await list()
      refuseSecond(archives, earlier)
      const isOtherKey = earlier[0] && earlier[0].keyFingerprint !== signed.keyFingerprint
      if (isOtherKey) await confirmKey(signed.keyFingerprint)
      return place(`${draftPrefix}${randomUUID()}`, async (draft) => {
        for (const [name, path] of parts) await copy(path, join(draft, name), signed.sums.get(name))
        return id
      })
    },

    async make(maker, write) {
      const { release } = await place(`${draftPrefix}${maker}`, async (draft) => {
        await write(draft)
        const files = await findFiles([draft])
        return toId(findArchives([...files.keys()]), (await readSignedFiles(files)).id)
      })
      return release
    },

    removeUnfinished: (maker) =>
      rm(join(directory, `${draftPrefix}${maker}`), { recursive: true, force: true }),
  }
}

/**
 * Returns false if the release's folder exists, because another node that shares the folder of all releases may have
 * added the same release. Rethrows other errors.
 */
function ignoreExisting(error: unknown): boolean {
  if (isErrno(error, 'ENOTEMPTY', 'EEXIST')) return false
  throw error
}

function rethrow(error: unknown): void {
  throw error
}

async function readRelease(folder: string): Promise<Release> {
  const files = await findFiles([folder])
  const { sums, publicKey, keyFingerprint } = await readSignedFiles(files)
  const present = [...sums].filter(([name]) => files.has(name))
  const archives = findArchives(present.map(([name]) => name))
  return {
    id: basename(folder),
    folder,
    version: archives[0].version,
    archives,
    publicKey,
    keyFingerprint,
    files: await Promise.all(
      present.map(async ([name, sha256]) => ({
        name,
        sha256,
        sizeBytes: (await stat(files.get(name) ?? '')).size,
      })),
    ),
  }
}

const toId = ([{ version }]: [Archive, ...Archive[]], hash: string) => `${version}-${hash}`

const isDescription = (name: string) => Object.values<string>(releaseFiles).includes(name)

function findArchives(names: readonly string[]): [Archive, ...Archive[]] {
  const [first, ...others] = names.flatMap((name) => parseArchiveName(name) ?? [])
  if (first === undefined) {
    throw unprocessable(
      'the release has no archive such as shoal-1.0.0-linux-x64.tar.gz: make it on Linux, with npm run release',
    )
  }
  return [first, ...others]
}

function refuseSecond(archives: readonly Archive[], releases: readonly Release[]) {
  for (const { name } of archives) {
    const other = releases.find((release) => release.archives.some((one) => one.name === name))
    if (other === undefined) continue
    throw conflict(
      `a different ${name} already exists: increase the version, or delete ${other.folder}`,
    )
  }
}

/** Copies a file, and verifies the copy. `sha256` is undefined for a file that the checksums do not list. */
async function copy(from: string, to: string, sha256: string | undefined): Promise<void> {
  const hash = createHash('sha256')
  const file = await open(to, 'wx', 0o640)
  try {
    await pipeline(createReadStream(from), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk)
        await file.write(chunk)
      }
    })
    await file.sync()
  } finally {
    await file.close()
  }
  const found = hash.digest('hex')
  if (sha256 !== undefined && sha256 !== found) {
    throw unprocessable(`${from} is damaged: its SHA-256 is ${found}, not ${sha256}`)
  }
}

const sortNewestFirst = (releases: Release[]) =>
  releases.toSorted(
    (a, b) => compareVersions(b.version, a.version) || (a.id < b.id ? -1 : Number(a.id > b.id)),
  )

async function listFolders(directory: string): Promise<string[]> {
  if (!(await exists(directory))) return []
  const entries = await readdir(directory, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
