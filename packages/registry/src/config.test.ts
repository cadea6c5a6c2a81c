import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readRegistryConfig } from './config.ts'
import { ConfigError } from './errors.ts'
import { registrySettings } from './settings/settings.ts'

test('SHOAL_TRASH_DAYS must be 0 or at least an hour', () => {
  const parseDays = (text: string) => readRegistryConfig({ SHOAL_TRASH_DAYS: text }).trashDays
  expect(['0', '0s', '1h', '6d'].map(parseDays)).toEqual([0, 0, 1 / 24, 6])
  for (const text of ['6m', '59min', '0.0000001', '.04']) {
    expect(() => parseDays(text)).toThrow(`at least an hour (1h), not "${text}"`)
  }
})

test('by default the registry listens only on this machine, and limits requests', () => {
  expect(readRegistryConfig({})).toMatchObject({
    host: '127.0.0.1',
    port: 8000,
    dataDirectory: resolve('data'),
    baseUrl: undefined,
    databaseUrl: undefined,
    allowedHosts: [],
    isRegistrationOpen: true,
    isAnonymousReadAllowed: true,
    trustProxy: false,
    quotaBytes: undefined,
    reserveBytes: undefined,
    rateLimits: { auth: { max: 30, windowSeconds: 60 }, chunk: { max: 60_000, windowSeconds: 60 } },
    peerPort: 0,
    logLevel: 'info',
  })
})

test.each(['', ' '])('a variable set to "%s" counts as not set', (blank) => {
  const env = Object.fromEntries(
    Object.values(registrySettings).map(({ variable = '' }) => [variable, blank]),
  )
  expect(readRegistryConfig(env)).toEqual(readRegistryConfig({}))
})

test('classes whose rate limits are not set keep the default limits', () => {
  const { rateLimits } = readRegistryConfig({ SHOAL_RATE_LIMITS: 'auth=5/h' })
  expect(rateLimits).toMatchObject({
    auth: { max: 5, windowSeconds: 3_600 },
    write: { max: 600, windowSeconds: 60 },
  })
  expect(readRegistryConfig({ SHOAL_RATE_LIMITS: 'off' }).rateLimits).toBeUndefined()
})

test.each([
  [
    { SHOAL_PORT: '65536' },
    'SHOAL_PORT (or --port) must be a whole number from 0 to 65535, not "65536"',
  ],
  [
    { SHOAL_PEER_PORT: 'no' },
    'SHOAL_PEER_PORT must be a whole number from 0 to 65535, or "off", not "no"',
  ],
  [
    { SHOAL_BASE_URL: 'models.example.org' },
    'SHOAL_BASE_URL (or --base-url) must be a URL without a path, such as https://models.example.org, not "models.example.org"',
  ],
  [
    { DATABASE_URL: 'mysql://me:secret@host/db' },
    'DATABASE_URL must begin with postgres:// or postgresql:// (to use SQLite, unset DATABASE_URL)',
  ],
  [{ SHOAL_REGISTRATION: 'no' }, 'SHOAL_REGISTRATION must be one of open, closed, not "no"'],
  [{ SHOAL_QUOTA: 'much' }, 'SHOAL_QUOTA must be a size such as 500GB, not "much"'],
  [
    { SHOAL_TRASH_DAYS: 'week' },
    'SHOAL_TRASH_DAYS must be a number of days such as 7, or a duration',
  ],
  [{ SHOAL_RATE_LIMITS: 'auth=0/min' }, 'tracker=6000/min, or be "off"; "auth=0/min" is not valid'],
])('%o prevents the start with an error that explains what is valid', (env, sentence) => {
  expect(() => readRegistryConfig(env)).toThrow(ConfigError)
  expect(() => readRegistryConfig(env)).toThrow(sentence)
})
