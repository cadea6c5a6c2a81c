/** Tests that all settings and flags accept the same sizes and durations. */
import {
  durationExamples,
  endless,
  notDurations,
  notSizes,
  sizeExamples,
} from '@shoal/core/testing'
import { parseKeepAlive } from '@shoal/core/units'
import { readDaemonConfig } from '@shoal/daemon'
import { readNetworkSettings } from '@shoal/network'
import { readRegistryConfig } from '@shoal/registry'
import type { Command, Option } from 'commander'
import { describe, expect, test } from 'vitest'
import { shoalProgram } from './program.ts'
import { acceptedText, type ConfigKey, readSaved } from './settings/config.ts'
import { parseLifetime } from './terminal/units.ts'

type Read = (text: string) => unknown

const daemon = (env: Record<string, string>, flags = {}) =>
  readDaemonConfig(env, { models: '/models', ...flags })

const accepted = (key: ConfigKey, text: string) => ({
  path: 'config.json',
  values: { [key]: acceptedText(key, text) },
})

/** Parsers for the flags that commander does not parse: the daemon or the command itself parses their values. */
const untouched: Record<string, Read> = {
  '--memory <size>': (memory) => daemon({}, { memory }).memoryBytes,
  '--keep-alive <time>': (keepAlive) => daemon({}, { keepAlive }).keepAliveMs,
  '--expires <time>': (text) => (parseLifetime(text) ?? Number.POSITIVE_INFINITY) * 1_000,
}

/** Returns all distinct flags that have one of `names` as their placeholder, with their parsers. */
async function flagsTaking(...names: string[]): Promise<[string, Read][]> {
  const stub = { stdout: process.stdout, stderr: process.stderr }
  const program = await shoalProgram(() => Promise.reject(new Error('not run')), stub as never)
  const options = withSubcommands(program).flatMap((command) => command.options)
  const wanted = options.filter(({ flags }) => names.some((name) => flags.endsWith(`<${name}>`)))
  return [...new Map(wanted.map((option) => [option.flags, readWith(option)]))]
}

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
]

function readWith({ flags, parseArg }: Option): Read {
  if (parseArg) return (text) => parseArg(text, undefined)
  return untouched[flags] ?? expect.fail(`no parser for ${flags} here`)
}

describe.each<[string, Read]>([
  ['SHOAL_QUOTA', (text) => readRegistryConfig({ SHOAL_QUOTA: text }).quotaBytes],
  ['SHOAL_RESERVE', (text) => readRegistryConfig({ SHOAL_RESERVE: text }).reserveBytes],
  ['SHOAL_MEMORY', (text) => daemon({ SHOAL_MEMORY: text }).memoryBytes],
  ['limit-rate', (text) => readSaved('limit-rate', accepted('limit-rate', text))],
  ['limit-upload', (text) => readSaved('limit-upload', accepted('limit-upload', text))],
  ...(await flagsTaking('size', 'speed')),
])('%s', (_name, read) => {
  test('accepts sizes in all notations', () => {
    for (const { text, bytes } of sizeExamples()) expect(read(text), text).toBe(bytes)
    expect(read('1048576')).toBe(1_048_576)
  })

  test.each(notSizes)('refuses “%s”', (text) => {
    expect(() => read(text)).toThrow(text)
  })
})

test.each(await flagsTaking('GB'))(
  '%s accepts a size; a number without a unit is in GB',
  (_name, read) => {
    for (const { text, bytes } of sizeExamples()) expect(read(text), text).toBe(bytes / 1e9)
    expect(['16', '.5', '16 GB'].map(read)).toEqual([16, 0.5, 16])
    for (const text of notSizes) expect(() => read(text)).toThrow(text)
  },
)

type Time = {
  /** Converts text to milliseconds. The result may be a promise. */
  read: Read
  /** The maximum. Longer durations are reduced to it. */
  maxMs?: number
  /** The minimum. Shorter durations are refused. */
  minMs?: number
  /** The result for an unlimited duration; undefined if unlimited durations are refused. */
  endless: number | undefined
  /** Whether “unlimited” must be written as a word. Durations of more than 100 years are then refused. */
  isEndlessByWord?: boolean
}

const dayMs = 86_400_000

const timeouts = ['connect', 'headers', 'stall', 'giveup'].map((name): [string, Time] => [
  `SHOAL_NETWORK_TIMEOUTS, ${name}`,
  {
    async read(text) {
      const env = { SHOAL_NETWORK_TIMEOUTS: `${name}=${text}` }
      const { connectMs, headersMs, stallMs, giveUpMs } = (await readNetworkSettings(env)).timeouts
      return { connect: connectMs, headers: headersMs, stall: stallMs, giveup: giveUpMs }[name]
    },
    maxMs: 2 ** 30,
    endless: 2 ** 30,
  },
])

const windows = ['auth', 'write', 'read', 'chunk', 'tracker'].map((name): [string, Time] => [
  `SHOAL_RATE_LIMITS, ${name}`,
  {
    read(text) {
      const { rateLimits } = readRegistryConfig({ SHOAL_RATE_LIMITS: `${name}=5/${text}` })
      return (rateLimits?.[name as 'auth'].windowSeconds ?? 0) * 1_000
    },
    endless: undefined,
  },
])

/** For some flags, the CLI passes on the text as typed, and the daemon parses it. */
const flags = (await flagsTaking('time')).map(([name, read]): [string, Time] => {
  const readFlag = (text: string) => {
    const value = read(text)
    return typeof value === 'string' ? parseKeepAlive(value) : value
  }
  return [
    name,
    name.includes('--expires')
      ? { read: readFlag, endless: Number.POSITIVE_INFINITY, isEndlessByWord: true }
      : { read: readFlag, endless: -1 },
  ]
})

describe.each<[string, Time]>([
  [
    'SHOAL_KEEP_ALIVE',
    { read: (text) => daemon({ SHOAL_KEEP_ALIVE: text }).keepAliveMs, endless: -1 },
  ],
  [
    'SHOAL_TRASH_DAYS',
    {
      read: (text) => readRegistryConfig({ SHOAL_TRASH_DAYS: text }).trashDays * dayMs,
      minMs: 3_600_000,
      endless: 36_500 * dayMs,
    },
  ],
  ...timeouts,
  ...windows,
  ...flags,
])('%s', (_name, { read, endless: endlessMs, ...limits }) => {
  const { minMs = 0, maxMs = Number.POSITIVE_INFINITY, isEndlessByWord = false } = limits

  test('accepts durations in all notations', async () => {
    for (const { text, ms } of durationExamples()) {
      if (ms < minMs) expect(() => read(text), text).toThrow(text)
      else expect(await read(text), text).toBeCloseTo(Math.min(ms, maxMs), 3)
    }
  })

  test(`${endlessMs === undefined ? 'refuses' : 'accepts'} an unlimited duration`, async () => {
    for (const text of endless) {
      const isRefused = isEndlessByWord && /\d/.test(text)
      if (endlessMs === undefined || isRefused) expect(() => read(text), text).toThrow(text.trim())
      else expect(await read(text), text).toBe(endlessMs)
    }
  })

  const refused = notDurations.filter((text) => text !== 'm' || endlessMs !== undefined)
  test.each(refused)('refuses “%s”', async (text) => {
    await expect((async () => read(text))()).rejects.toThrow(text)
  })
})

test('a number without a unit is accepted if the setting has a default unit', async () => {
  expect(daemon({ SHOAL_KEEP_ALIVE: '90' }).keepAliveMs).toBe(90_000)
  expect(readRegistryConfig({ SHOAL_TRASH_DAYS: '30' }).trashDays).toBe(30)
  expect(() => parseLifetime('90')).toThrow('“90” is not a valid lifetime')
  const env = { SHOAL_NETWORK_TIMEOUTS: 'giveup=90' }
  await expect(readNetworkSettings(env)).rejects.toThrow('“giveup=90”')
})

test('the window of a rate limit may be a unit without a number', () => {
  const text = 'auth=30/min,write=1/h,read=2/5m,chunk=3/s'
  expect(readRegistryConfig({ SHOAL_RATE_LIMITS: text }).rateLimits).toMatchObject({
    auth: { max: 30, windowSeconds: 60 },
    write: { max: 1, windowSeconds: 3_600 },
    read: { max: 2, windowSeconds: 300 },
    chunk: { max: 3, windowSeconds: 1 },
    tracker: { max: 6_000, windowSeconds: 60 },
  })
})
