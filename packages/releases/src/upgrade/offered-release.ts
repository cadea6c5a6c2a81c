/** Finds the newest release that a registry offers for this machine, and verifies its signature. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import {
  compareVersions,
  fingerprintOf,
  parseArchiveName,
  parseChecksums,
  releaseFiles,
} from '../format/index.ts'
import { getFile, type ReleaseSource } from './release-source.ts'
import { UpgradeError } from './upgrade-error.ts'

export type OfferedRelease = { version: string; url: string; name: string; sha256: string }

/**
 * Returns the newest release that the registry offers for `platform`.
 * @throws `UpgradeError` if the registry has no release for this platform, or if the release is not signed with `key`
 */
export async function findOfferedRelease(
  registry: ReleaseSource,
  platform: string,
  key: KeyObject,
): Promise<OfferedRelease> {
  const folder = `${registry.address}/install/${platform}`
  const read = async (name: string) => (await getFile(registry, `${folder}/${name}`)).body
  const sums = await read(releaseFiles.checksums)
  const signature = await read(releaseFiles.signature)
  if (!verify(null, sums, key, signature)) {
    const offered = fingerprintOf(createPublicKey(Buffer.from(await read(releaseFiles.publicKey))))
    throw refused(
      offered === fingerprintOf(key)
        ? `The signature of the release at ${registry.label} is wrong.`
        : `The release at ${registry.label} is signed with a different key (SHA-256 ${offered}) than the installed release.`,
    )
  }
  const all = [...(parseChecksums(Buffer.from(sums).toString()) ?? [])].flatMap(
    ([name, sha256]) => {
      const archive = parseArchiveName(name)
      return archive?.platform === platform
        ? [{ name, sha256, version: archive.version, url: `${folder}/${name}` }]
        : []
    },
  )
  const [newest] = all.toSorted((a, b) => compareVersions(b.version, a.version))
  if (newest) return newest
  throw refused(`The release at ${registry.label} has no archive for ${platform}.`)
}

const refused = (message: string) => new UpgradeError('untrusted', message)
