import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { testAuthority } from '../../../testing/tls-certificates/index.ts'
import { directNetwork, NetworkSettingError, readNetworkSettings } from './settings.ts'

function writeTemporary(content: string): string {
  const directory = temporaryFolder()
  const path = join(directory, 'ca.pem')
  writeFileSync(path, content)
  return path
}

test('requests are direct if the environment is empty', async () => {
  expect(await readNetworkSettings({})).toEqual(directNetwork)
})

test('blank variables count as unset', async () => {
  const env = { SHOAL_CA_FILE: ' ', SHOAL_NETWORK_TIMEOUTS: ' ' }
  expect(await readNetworkSettings(env)).toEqual(directNetwork)
})

test('proxy variables are read in lower case, then in upper case, and the scheme is optional', async () => {
  const env = {
    HTTP_PROXY: 'http://upper:1',
    http_proxy: 'lower:2',
    ALL_PROXY: 'http://all:3',
    no_proxy: 'a.test',
  }
  expect(await readNetworkSettings(env)).toMatchObject({
    httpProxy: 'http://lower:2',
    httpsProxy: 'http://all:3',
    noProxy: 'a.test',
  })
})

test('some or all timeouts can be set', async () => {
  const SHOAL_NETWORK_TIMEOUTS = 'connect=500ms, stall=2s,giveup=1m'
  const { timeouts } = await readNetworkSettings({ SHOAL_NETWORK_TIMEOUTS })
  expect(timeouts).toEqual({ connectMs: 500, headersMs: 30_000, stallMs: 2000, giveUpMs: 60_000 })
})

test('the value of --cacert overrides SHOAL_CA_FILE', async () => {
  const { extraCa } = await readNetworkSettings({ SHOAL_CA_FILE: '/nowhere' }, testAuthority)
  expect(extraCa).toMatch(/^-----BEGIN CERTIFICATE-----/)
})

test.each([
  [
    { HTTPS_PROXY: 'socks5://me:secret@proxy:1' },
    /“socks5:\/\/…@proxy:1” is not an HTTP proxy address/,
  ],
  [{ HTTP_PROXY: 'http://me:100%@proxy:1' }, /not an HTTP proxy address/],
  [{ HTTP_PROXY: 'http://' }, /not an HTTP proxy address/],
  [{ SHOAL_CA_FILE: '/nowhere/ca.pem' }, /ca.pem cannot be read: ENOENT/],
  [{ SHOAL_NETWORK_TIMEOUTS: 'connect=6' }, /contains “connect=6”/],
  [{ SHOAL_NETWORK_TIMEOUTS: 'read=6s' }, /contains “read=6s”/],
  [{ SHOAL_NETWORK_TIMEOUTS: 'stall=0s' }, /contains “stall=0s”/],
])('the environment %o is rejected with a message for the user', async (env, message) => {
  const failure = await readNetworkSettings(env).catch((error) => error)
  expect(failure).toBeInstanceOf(NetworkSettingError)
  expect(failure.message).toMatch(message)
})

test.each([
  ['nothing', 'no certificate here', /contains no PEM certificates/],
  [
    'an invalid certificate',
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
    /contains an invalid certificate/,
  ],
])('a CA file with %s in PEM format is rejected', async (_, content, message) => {
  const SHOAL_CA_FILE = writeTemporary(content)
  await expect(readNetworkSettings({ SHOAL_CA_FILE })).rejects.toThrow(message)
})
