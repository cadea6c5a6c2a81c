/** Installs a release next to the running one, and then makes the link that users run point to the new release. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, open, readdir, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { exists, syncFolder, syncTree } from '@shoal/files'
import { removeOldDrafts } from '../old-drafts.ts'
import type { Installation } from './installation.ts'
import type { OfferedRelease } from './offered-release.ts'
import { getFile, type ReleaseSource } from './release-source.ts'
import { UpgradeError } from './upgrade-error.ts'

const partBytes = 8 * 1024 * 1024
/** Limits the download, because the size of an archive is not signed. An archive is about 100 MB. */
const maxBytes = 2_000_000_000

/** The prefix of the folders in which releases are unpacked. A killed process leaves its folder behind. */
const draftPrefix = '.install-'

type Progress = {
  update(status: { bytesDone: number; bytesTotal: number }): void
  end(): void
}

/**
 * Installs a release. If the installation fails, the previous version stays installed.
 * @throws `UpgradeError` if the archive cannot be downloaded, or does not match its checksum
 */
export async function installRelease(
  registry: ReleaseSource,
  { folder, command, version: running }: Installation,
  { name, version, url, sha256 }: OfferedRelease,
  progress: Progress,
): Promise<void> {
  await removeOldDrafts(folder, draftPrefix)
  const draft = await mkdtemp(join(folder, draftPrefix))
  try {
    const archive = join(draft, name)
    const found = await download(registry, url, archive, progress)
    if (found !== sha256) {
      throw new UpgradeError(
        'untrusted',
        `The SHA-256 of ${name} is ${found}, but should be ${sha256}.`,
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

/** Returns the SHA-256 of the file. */
async function download(registry: ReleaseSource, url: string, path: string, progress: Progress) {
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
      if (!(total <= maxBytes)) throw new UpgradeError('too_large', `${url} is too large.`)
      if (body.byteLength === 0) throw new UpgradeError('bad_response', `${url} ended too early.`)
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
