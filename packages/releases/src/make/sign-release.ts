/** Writes the checksums of a release, and signs them. */
import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { releaseFiles } from '../format/index.ts'

/**
 * Writes three files: `SHA256SUMS`, the checksums of all files in the folder in the format of `sha256sum`;
 * `SHA256SUMS.sig`, the Ed25519 signature of `SHA256SUMS` (64 bytes, RFC 8032); and `SHA256SUMS.pem`, the public key.
 */
export async function signRelease(folder: string, key: KeyObject): Promise<void> {
  const names = (await readdir(folder)).toSorted()
  const lines: string[] = []
  for (const name of names) lines.push(`${await hashFile(join(folder, name))}  ${name}\n`)
  const sums = lines.join('')
  const write = (name: string, content: string | Buffer) =>
    writeFile(join(folder, name), content, { flush: true })
  await write(releaseFiles.checksums, sums)
  await write(releaseFiles.signature, sign(null, Buffer.from(sums), key))
  await write(
    releaseFiles.publicKey,
    createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
  )
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
