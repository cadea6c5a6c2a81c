/** Finds the newest release that a registry offers for this machine, and verifies its signature. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import {
  compareVersions,
  parseArchiveName,
  parseChecksums,
  releaseFiles,
} from '@shoal/core/releases'
import type { Registry } from '../context.ts'
import { Failure } from '../terminal/failure.ts'

export type OfferedRelease = { version: string; url: string; name: string; sha256: string }

/**
 * Returns the newest release that the registry offers for `platform`.
 * @throws `not_found` if the registry has no release for this platform
 * @throws `verification_failed` if the release is not signed with `key`, or if it has no archive for this platform
 */
export async function findOfferedRelease(
  registry: Registry,
  platform: string,
  key: KeyObject,
): Promise<OfferedRelease> {
  const folder = `${registry.address}/install/${platform}`
  const read = async (name: string) => (await getFile(registry, `${folder}/${name}`)).body
  const sums = await read(releaseFiles.checksums)
  const signature = await read(releaseFiles.signature)
  if (!verify(null, sums, key, signature)) {
    const offered = fingerprint(createPublicKey(Buffer.from(await read(releaseFiles.publicKey))))
    throw refused(
      offered === fingerprint(key)
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

const refused = (message: string) =>
  new Failure('verification_failed', message, { hint: 'Nothing was changed.' })

const fingerprint = (key: KeyObject) =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')

/** Gets a file or, with `range`, a part of it. */
export async function getFile({ transport, label }: Registry, url: string, range?: string) {
  const headers = { accept: 'application/octet-stream', ...(range !== undefined && { range }) }
  const answer = await transport({ method: 'GET', url, headers })
  if (answer.status === 404) {
    throw new Failure('not_found', `${label} has no release of shoal for this machine.`, {
      hint: "The registry's operator can add one: shoal admin releases add <folder>",
    })
  }
  if (answer.status >= 400) {
    throw new Failure('registry_failed', `${label} returned status ${answer.status} for ${url}.`)
  }
  return answer
}
