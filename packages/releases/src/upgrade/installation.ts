/** Installations made by a registry's installation script (`GET /install`). */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { access, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isErrno } from '@shoal/files'

export type Installation = {
  /** The folder `lib/shoal`, which contains one folder for each version. */
  folder: string
  /** The version that is running. */
  version: string
  /** The symbolic link that users run. */
  command: string
  /** The key that was saved by the first installation. Only releases that are signed with this key are installed. */
  key: KeyObject
}

/**
 * Finds the installation that contains the folder; undefined if shoal was installed in another way, such as with npm.
 */
export async function findInstallation(programFolder: string): Promise<Installation | undefined> {
  for (let at = programFolder; dirname(at) !== at; at = dirname(at)) {
    const folder = dirname(at)
    const command = join(folder, '..', '..', 'bin', 'shoal')
    const pem = await readFile(join(folder, 'release-key.pem'), 'utf8').catch(ignoreMissing)
    if (pem === undefined) continue
    await access(join(at, 'bin', 'shoal'))
    return { folder, version: basename(at), command, key: createPublicKey(pem) }
  }
  return undefined
}

function ignoreMissing(error: unknown): undefined {
  if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
  throw error
}
