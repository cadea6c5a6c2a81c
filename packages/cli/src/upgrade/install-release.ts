/** Installs a release next to the running one, and then makes the link that users run point to the new release. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdtemp, open, readdir, rename, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { isErrno, syncFolder, syncTree } from '@shoal/files'
import type { Registry } from '../context.ts'
import { Failure } from '../terminal/failure.ts'
import type { Progress } from '../terminal/progress.ts'
import type { Installation } from './installation.ts'
import { getFile, type OfferedRelease } from './offered-release.ts'

const partBytes = 8 * 1024 * 1024
/** Limits the download, because the size of an archive is not signed. An archive is about 100 MB. */
const maxBytes = 2_000_000_000

/** The prefix of the folders in which releases are unpacked. A killed process leaves its folder behind. */
const draftPrefix = '.install-'
const maxDraftAgeMs = 86_400_000

/** Installs a release. If the installation fails, the previous version stays installed. */
export async function installRelease(
  registry: Registry,
  { folder, command, version: running }: Installation,
  { name, version, url, sha256 }: OfferedRelease,
  progress: Progress,
): Promise<void> {
  await removeOldDrafts(folder)
  const draft = await mkdtemp(join(folder, draftPrefix))
  try {
    const archive = join(draft, name)
    const found = await download(registry, url, archive, progress)
    if (found !== sha256) {
      throw new Failure(
        'verification_failed',
        `The SHA-256 of ${name} is ${found}, but should be ${sha256}.`,
        {
          hint: 'Nothing was changed.',
        },
      )
    }
    await run('tar', ['-xzof', archive, '-C', draft])
    const unpacked = join(draft, name.replace(/\.tar\.gz$/, ''))
    await run(join(unpacked, 'bin', 'shoal'), ['--version']) // checks that the release runs on this machine
    await syncTree(unpacked)
    const target = join(folder, version)
    if (await exists(target)) await rename(target, join(draft, 'previous'))
    await rename(unpacked, target)
    // Synced before the link is changed, so that a power failure cannot leave a link to missing files.
    await syncFolder(folder)
    const link = join(draft, 'shoal')
    await symlink(relative(dirname(command), join(target, 'bin', 'shoal')), link)
    await rename(link, command)
    await syncFolder(dirname(command))
    await removeOthers(folder, [running, version])
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

const run = promisify(execFile)

async function removeOldDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(draftPrefix)) continue
    const draft = join(folder, name)
    const found = await stat(draft).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return undefined // another upgrade has just removed the draft
      throw error
    })
    const isLeft = found && Date.now() - found.mtimeMs > maxDraftAgeMs
    if (isLeft) await rm(draft, { recursive: true, force: true })
  }
}

/** Returns the SHA-256 of the file. */
async function download(registry: Registry, url: string, path: string, progress: Progress) {
  const hash = createHash('sha256')
  const file = await open(path, 'wx')
  try {
    for (let at = 0, total = 1; at < total; ) {
      const { status, headers, body } = await getFile(
        registry,
        url,
        `bytes=${at}-${at + partBytes - 1}`,
      )
      const [, size] = /\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
      total = status === 206 ? Number(size) : at + body.byteLength
      if (!(total <= maxBytes)) throw new Failure('failed', `${url} is too large.`)
      if (body.byteLength === 0) throw new Failure('registry_failed', `${url} ended too early.`)
      hash.update(body)
      await file.writeFile(body)
      at += body.byteLength
      progress.update({ bytesDone: at, bytesTotal: total })
    }
    await file.sync()
  } finally {
    await file.close()
    progress.end()
  }
  return hash.digest('hex')
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/**
 * Removes all versions except `kept`, which includes the running version, because a daemon may still load parts of it.
 */
async function removeOthers(folder: string, kept: readonly string[]): Promise<void> {
  for (const name of await readdir(folder)) {
    if (/^\d+\.\d+\.\d+/.test(name) && !kept.includes(name)) {
      await rm(join(folder, name), { recursive: true })
    }
  }
}
