import { loopbackHosts, otherHosts } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { type DaemonFlags, readDaemonConfig } from './config.ts'
import { ConfigError } from './errors.ts'
import { daemonSettings } from './settings.ts'

const read = (env: Record<string, string>, flags: DaemonFlags = {}) =>
  readDaemonConfig(env, { models: '/models', ...flags })

test('by default, the daemon listens only on this machine, like Ollama', () => {
  expect(read({})).toMatchObject({
    host: '127.0.0.1',
    port: 11_434,
    contextLength: undefined,
    slots: 4,
    keepAliveMs: 300_000,
  })
})

test('a flag overrides the environment', () => {
  const env = {
    SHOAL_CONTEXT_LENGTH: '4096',
    SHOAL_THREADS: '3',
    SHOAL_SLOTS: '2',
    SHOAL_MEMORY: '12GB',
    SHOAL_KEEP_ALIVE: '2h',
  }
  const kept = { contextLength: 4096, threads: 3, slots: 2, memoryBytes: 12e9, keepAliveMs: 7.2e6 }
  expect(read(env)).toMatchObject(kept)
  const flags = { contextLength: '512', threads: '1', slots: '8', memory: '500 MB', keepAlive: '0' }
  expect(read(env, flags)).toMatchObject({
    contextLength: 512,
    threads: 1,
    slots: 8,
    memoryBytes: 500e6,
    keepAliveMs: 0,
  })
})

test.each(['', ' '])('a variable that holds "%s" counts as not set', (blank) => {
  const env = Object.values(daemonSettings).map(({ variable = '' }) => [variable, blank])
  expect(read(Object.fromEntries(env))).toEqual(read({}))
})

test('origins in the flag or in the variable are allowed to call the daemon', () => {
  const env = { SHOAL_ORIGINS: 'app://obsidian.md, http://localhost:3000/' }
  const origins = ['app://obsidian.md', 'http://localhost:3000']
  expect(read(env).origins).toEqual(origins)
  expect(read(env, { origin: ['https://a.test/b'] }).origins).toEqual([
    'https://a.test',
    ...origins,
  ])
  expect(() => read({ SHOAL_ORIGINS: 'a.test' })).toThrow(
    'must be a list of origins such as http://localhost:3000, not "a.test"',
  )
})

test('the number of threads is adapted unless it is set', () => {
  expect(read({}).areThreadsAdapted).toBe(true)
  expect(read({ SHOAL_THREADS: '' }).areThreadsAdapted).toBe(true)
  expect(read({ SHOAL_THREADS: '3' }).areThreadsAdapted).toBe(false)
  expect(read({}, { threads: '2' }).areThreadsAdapted).toBe(false)
})

test.each([
  ['5m', 300_000],
  ['90s', 90_000],
  ['90', 90_000],
  ['1h30m', 5_400_000],
  ['forever', -1],
  ['-1', -1],
])('a keep-alive time of %s is parsed', (keepAlive, keepAliveMs) => {
  expect(read({}, { keepAlive }).keepAliveMs).toBe(keepAliveMs)
})

test.each([
  [{ port: '70000' }, 'SHOAL_PORT (or --port) must be a whole number from 0 to 65535, not "70000"'],
  [{ slots: '0' }, 'SHOAL_SLOTS (or --slots) must be a whole number from 1 to 256, not "0"'],
  [
    { threads: 'all' },
    'SHOAL_THREADS (or --threads) must be a whole number from 1 to 1024, not "all"',
  ],
  [{ memory: 'much' }, 'SHOAL_MEMORY (or --memory) must be a size such as 12GB, not "much"'],
  [
    { keepAlive: 'long' },
    'SHOAL_KEEP_ALIVE (or --keep-alive) must be a duration such as 5m or 2h, or the word forever, not "long"',
  ],
  [{ contextLength: '1e4' }, 'SHOAL_CONTEXT_LENGTH (or --context-length) must be a whole number'],
])("%o is rejected with an error that contains the setting's name", (flags, sentence) => {
  expect(() => read({}, flags)).toThrow(ConfigError)
  expect(() => read({}, flags)).toThrow(sentence)
})

test('a key is required if other machines can reach the daemon', () => {
  expect(() => read({}, { host: '0.0.0.0' })).toThrow('other machines can reach this daemon')
  expect(read({ SHOAL_API_KEY: 'k' }, { host: '0.0.0.0' }).apiKey).toBe('k')
})

test('a key file that cannot be read is a configuration error', () => {
  const wrong = 'the key in /nowhere/key cannot be read: no such file or directory'
  expect(() => read({}, { apiKeyFile: '/nowhere/key' })).toThrow(new ConfigError(wrong))
})

test('an IPv6 address may be in brackets', () => {
  expect(read({}, { host: '[::1]' }).host).toBe('::1')
  expect(read({ SHOAL_HOST: '::1' }).host).toBe('::1')
  expect(() => read({}, { host: '[::]' })).toThrow('other machines can reach this daemon at ::')
})

test('only loopback addresses require no key', () => {
  for (const host of loopbackHosts) expect(read({}, { host }).apiKey, host).toBeUndefined()
  for (const host of [...otherHosts, '127.999.1.1', '127.1.1']) {
    expect(() => read({}, { host }), host).toThrow('other machines can reach this daemon')
  }
})
