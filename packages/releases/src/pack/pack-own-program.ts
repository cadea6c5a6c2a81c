/**
 * Packs the registry's own program. A registry that runs from a release offers its own program at `/install`. The
 * registry packs the program once, and signs it with its own key (decision 45). If the newest release is signed with a
 * different key, it was added by the operator, and the registry does not add its own program.
 */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '@shoal/core/errors'
import { formatBytes } from '@shoal/core/units'
import { compareVersions, fingerprintOf } from '../format/index.ts'
import { type Program, readProgram } from '../make/program.ts'
import { signRelease } from '../make/sign-release.ts'
import type { Release, Releases } from '../offer/releases.ts'
import { toSigningKey } from './own-key.ts'
import { packAtLowPriority } from './start-pack-process.ts'

type Options = {
  /** The folder of the release from which the registry runs; undefined if it does not run from a release. */
  programFolder: string | undefined
  /** A folder that only one process at a time uses. */
  dataDirectory: string
  releases: Releases
  /** Returns the seed of the registry's own key: 32 bytes in hexadecimal, the same on all nodes. */
  readKeySeed: () => Promise<string>
  /** Returns how many bytes are free on the file system of a folder, and how many of them must be left free. */
  readSpace: (folder: string) => Promise<{ freeBytes: number; reserveBytes: number }>
  log: Record<'info' | 'warn', (details: object, message: string) => void>
}

export type Packing = {
  /** Whether the program is currently being packed. */
  readonly isActive: boolean
  /** Stops packing, and deletes what has been written. */
  stop(): Promise<void>
}

/** Packs the registry's program in the background, if necessary. If this fails, a warning is logged. */
export function startPacking(options: Options): Packing {
  const { releases, log } = options
  const abort = new AbortController()
  let isActive = false
  const onStart = () => {
    isActive = true
  }
  const done = packOwnProgram(options, abort.signal, onStart)
    .catch((error: unknown) => {
      if (abort.signal.aborted) return
      log.warn(
        { err: error },
        `this program could not be packed for /install: ${advise(error, releases.directory)}`,
      )
    })
    .finally(() => {
      isActive = false
    })
  return {
    get isActive() {
      return isActive
    },
    stop() {
      abort.abort()
      return done
    },
  }
}

/**
 * Packs the program, unless this platform already has a release of this version or a newer one, or a release of the
 * newest version is signed with a different key. Does nothing if the registry does not run from a release. Calls
 * `onStart` before it packs.
 */
export async function packOwnProgram(
  { programFolder, dataDirectory, releases, readKeySeed, readSpace, log }: Options,
  signal: AbortSignal,
  onStart: () => void = () => undefined,
): Promise<void> {
  const program = programFolder === undefined ? undefined : await readProgram(programFolder)
  if (program === undefined) return
  const maker = nameMaker(dataDirectory)
  await releases.removeUnfinished(maker)
  const all = await releases.list()
  if (all.some(isFor(program))) return
  const key = toSigningKey(await readKeySeed())
  if (isOperators(all, key)) {
    log.info(
      { version: program.version, newestRelease: all[0]?.version },
      'this program was not added to the releases at /install, because the newest of them is signed with a different key than the registry’s own; add a release with: shoal admin releases add',
    )
    return
  }
  onStart()
  const { id, keyFingerprint } = await releases.make(maker, async (folder) => {
    checkSpace(program, await readSpace(folder))
    const into = join(folder, `${program.name}.tar.gz`)
    await packAtLowPriority({ ...program, into }, signal)
    await checkUnchanged(program)
    await signRelease(folder, key)
    signal.throwIfAborted()
  })
  log.info({ release: id, keyFingerprint }, 'this program was packed and is offered at /install')
}

/**
 * Returns a name that identifies this registry among those that share a folder of releases. Only one process at a time
 * uses a data folder, so files that an earlier process with this name has left behind are not in use.
 */
const nameMaker = (dataDirectory: string) =>
  createHash('sha256').update(`${hostname()}\n${dataDirectory}`).digest('hex').slice(0, 16)

const isFor =
  ({ version, platform }: Program) =>
  ({ archives }: Release) =>
    archives.some((one) => one.platform === platform && compareVersions(one.version, version) >= 0)

/**
 * Whether the operator has added a release of the newest version. Such a release is signed with a key other than `key`.
 */
function isOperators(all: readonly Release[], key: KeyObject): boolean {
  const own = fingerprintOf(createPublicKey(key))
  const newest = all.filter(({ version }) => compareVersions(version, all[0]?.version ?? '') === 0)
  return newest.some(({ keyFingerprint }) => keyFingerprint !== own)
}

/** Throws if the program was replaced while it was being packed, for example by a package manager. */
async function checkUnchanged(program: Program) {
  if (isDeepStrictEqual(await readProgram(program.folder), program)) return
  throw new Error(`${program.folder} was replaced while it was being packed`)
}

/** Throws if there may not be enough space for the archive and the reserve. The archive is smaller than the program. */
function checkSpace(program: Program, space: { freeBytes: number; reserveBytes: number }) {
  const missingBytes = program.sizeBytes + space.reserveBytes - space.freeBytes
  if (missingBytes <= 0) return
  const message = `another ${formatBytes(missingBytes)} of disk space is needed`
  throw new AppError('storage_full', message, { missingBytes })
}

const isFull = new Set(['ENOSPC', 'EDQUOT', 'storage_full'])
const isForbidden = new Set(['EACCES', 'EPERM', 'EROFS'])

function advise(error: unknown, directory: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const byHand = 'add a release with: shoal admin releases add'
  if (isFull.has(code)) {
    return `free some space on the disk that contains ${directory}, and restart the registry`
  }
  if (isForbidden.has(code)) {
    return `allow the registry to write to ${directory} and restart it, or ${byHand}`
  }
  return `restart the registry to try again, or ${byHand}`
}
