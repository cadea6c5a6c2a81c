import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isErrno } from '@shoal/files'
import { othersAndGroup, takePermissions } from '@shoal/files/secret'

/**
 * Reads the signing key from the file that `SHOAL_RELEASE_KEY` names. If this variable is not set, reads
 * `shoal/release-key.pem` in the user's configuration folder, and creates this file if it does not exist.
 * @throws if the file contains no Ed25519 private key in PEM format, or the named file does not exist
 */
export async function readSigningKey(env: NodeJS.ProcessEnv): Promise<KeyObject> {
  const { SHOAL_RELEASE_KEY: given, XDG_CONFIG_HOME: config } = env
  const path = given || join(config || join(homedir(), '.config'), 'shoal', 'release-key.pem')
  if (!given) await createKey(path)
  if (!takePermissions(path, othersAndGroup)) {
    console.error(
      `Other users of this machine may be able to read ${path}: change its permissions.`,
    )
  }
  const pem = await readFile(path, 'utf8')
  const key = parseKey(pem)
  if (key?.asymmetricKeyType === 'ed25519') return key
  throw new Error(
    `${path} contains no Ed25519 private key. To make one: openssl genpkey -algorithm ed25519 -out FILE`,
  )
}

function parseKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined // reported by the caller, without the content of the file
  }
}

/**
 * Creates a key file, unless the file exists. The file appears under its final name only when it is complete. If two
 * releases are made at the same time, they use the same key.
 */
async function createKey(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const { privateKey } = generateKeyPairSync('ed25519')
  const draft = `${path}.${randomUUID()}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(privateKey.export({ type: 'pkcs8', format: 'pem' }))
    await file.sync()
    await link(draft, path)
    console.error(
      `Created the signing key ${path}. Keep a copy, because installations trust only this key.`,
    )
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
  } finally {
    await file.close()
    await rm(draft)
  }
}
