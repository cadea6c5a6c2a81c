import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../testing/temporary-folder.ts'
import { signRelease } from './sign-release.ts'
import { readSigningKey } from './signing-key.ts'

test('the checksums are signed, and can be verified with the public key', async () => {
  const folder = temporaryFolder()
  await writeFile(join(folder, 'b'), 'two')
  await writeFile(join(folder, 'a'), 'one')
  await signRelease(folder, generateKeyPairSync('ed25519').privateKey)
  const [sums, signature, pem] = await Promise.all(
    ['SHA256SUMS', 'SHA256SUMS.sig', 'SHA256SUMS.pem'].map((name) => readFile(join(folder, name))),
  )
  expect(String(sums)).toBe(
    '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed  a\n' +
      '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3  b\n',
  )
  const key = createPublicKey(String(pem))
  expect(verify(null, sums ?? Buffer.alloc(0), key, signature ?? Buffer.alloc(0))).toBe(true)
  expect(verify(null, Buffer.from('other'), key, signature ?? Buffer.alloc(0))).toBe(false)
})

test('the key is created once, readable only by its owner, even if two releases need it at the same time', async () => {
  const folder = temporaryFolder()
  const env = { XDG_CONFIG_HOME: folder }
  const keys = await Promise.all([readSigningKey(env), readSigningKey(env)])
  const later = await readSigningKey(env)
  const path = join(folder, 'shoal', 'release-key.pem')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(keys.every((key) => later.equals(key))).toBe(true)
})

test('a key of another kind, a damaged key and a missing key are refused', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'key.pem')
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  for (const content of [privateKey.export({ type: 'pkcs8', format: 'pem' }), 'damaged']) {
    await writeFile(path, content)
    await expect(readSigningKey({ SHOAL_RELEASE_KEY: path })).rejects.toThrow('no Ed25519')
  }
  await expect(readSigningKey({ SHOAL_RELEASE_KEY: join(folder, 'none') })).rejects.toThrow(
    'ENOENT',
  )
})
