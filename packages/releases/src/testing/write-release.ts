/** Writes a small release in the format of `npm run release`. Its archive contains a program of a few lines. */
import { execFile } from 'node:child_process'
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const makeReleaseKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey

type Contents = {
  key: KeyObject
  version?: string
  platform?: string
  /** A POSIX shell script, which the archive contains as `bin/shoal`. */
  program?: string
}

/** Writes a release, and returns its folder. The folder is deleted when the returned value is disposed of. */
export async function writeRelease({
  key,
  version = '1.0.0',
  platform = `${process.platform}-${process.arch}`,
  program = `#!/bin/sh\necho "shoal ${version}: $*"\n`,
}: Contents) {
  const path = await mkdtemp(join(tmpdir(), 'shoal-release-'))
  const name = `shoal-${version}-${platform}`
  await mkdir(join(path, name, 'bin'), { recursive: true })
  await writeFile(join(path, name, 'bin', 'shoal'), program, { mode: 0o755 })
  await promisify(execFile)('tar', ['-czf', `${name}.tar.gz`, name], { cwd: path })
  await rm(join(path, name), { recursive: true })
  await writeFile(join(path, `shoal-${version}.tgz`), `the npm package of ${version}`)
  await signAgain(path, key)
  return {
    path,
    archive: join(path, `${name}.tar.gz`),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  }
}

/**
 * Writes and signs the checksums of the files in the folder. If `text` is given, writes and signs that text instead.
 */
export async function signAgain(path: string, key: KeyObject, text?: string): Promise<void> {
  const names = (await readdir(path)).filter((one) => !one.startsWith('SHA256SUMS')).toSorted()
  const lines = await Promise.all(
    names.map(async (name) => {
      const content = await readFile(join(path, name))
      return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`
    }),
  )
  const sums = Buffer.from(text ?? lines.join(''))
  await writeFile(join(path, 'SHA256SUMS'), sums)
  await writeFile(join(path, 'SHA256SUMS.sig'), sign(null, sums, key))
  const pem = createPublicKey(key).export({ type: 'spki', format: 'pem' })
  await writeFile(join(path, 'SHA256SUMS.pem'), pem)
}
