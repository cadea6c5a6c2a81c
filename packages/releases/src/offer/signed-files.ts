/** Reads the files that describe a release, and verifies its signature. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { unprocessable } from '../errors.ts'
import { fingerprintOf, parseChecksums, releaseFiles } from '../format/index.ts'

/** `SHA256SUMS` has a line of less than 300 bytes for each file. */
const maxDescriptionBytes = 100_000

/** The paths of a release's files, by their names. */
export type Files = ReadonlyMap<string, string>

/**
 * Finds the files of a release. If the only path is a folder, these are the files in it. Otherwise, they are the files
 * at the given paths.
 */
export async function findFiles(paths: readonly string[]): Promise<Files> {
  const [path = ''] = paths
  const isFolder = paths.length === 1 && (await stat(path)).isDirectory()
  const all = isFolder ? (await readdir(path)).map((name) => join(path, name)) : paths
  const files = new Map<string, string>()
  for (const one of all) {
    if ((await stat(one)).isFile()) files.set(basename(one), one)
    else if (!isFolder) throw unprocessable(`${one} is not a file`)
  }
  for (const name of Object.values(releaseFiles)) {
    if (files.has(name)) continue
    throw unprocessable(
      `${name} is missing: a release consists of the files that npm run release writes`,
    )
  }
  return files
}

/**
 * Reads the checksums and the public key of a release, and verifies the signature.
 * @throws `unprocessable` if the signature is wrong, or if the key or the checksums are malformed
 */
export async function readSignedFiles(files: Files) {
  const [text, signature, publicKey] = await Promise.all([
    readSmall(files, releaseFiles.checksums),
    readSmall(files, releaseFiles.signature),
    readSmall(files, releaseFiles.publicKey),
  ])
  const key = parseKey(String(publicKey))
  if (key?.asymmetricKeyType !== 'ed25519') {
    throw unprocessable(`${files.get(releaseFiles.publicKey)} contains no Ed25519 public key`)
  }
  if (!verify(null, text, key, signature)) {
    throw unprocessable(
      `the signature of ${files.get(releaseFiles.checksums)} is wrong: the release has been changed`,
    )
  }
  return {
    /** Computed from `SHA256SUMS` only, so the same files always have the same ID. */
    id: createHash('sha256').update(text).digest('hex').slice(0, 16),
    sums: parseSums(files, String(text)),
    publicKey: key.export({ type: 'spki', format: 'pem' }).toString(),
    keyFingerprint: fingerprintOf(key),
  }
}

function parseSums(files: Files, text: string): Map<string, string> {
  const sums = parseChecksums(text)
  if (sums) return sums
  throw unprocessable(`${files.get(releaseFiles.checksums)} is not a list of SHA-256 checksums`)
}

async function readSmall(files: Files, name: string): Promise<Buffer> {
  const path = files.get(name) ?? name
  if ((await stat(path)).size > maxDescriptionBytes) throw unprocessable(`${path} is too large`)
  return readFile(path)
}

function parseKey(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem)
  } catch {
    return undefined // reported by the caller
  }
}
