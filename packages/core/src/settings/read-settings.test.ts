import { expect, test } from 'vitest'
import {
  choice,
  list,
  port,
  readSettings,
  setting,
  size,
  variablesOf,
  wholeNumber,
  word,
} from './index.ts'

const table = {
  port: setting({
    variable: 'SHOAL_PORT',
    flag: '--port <number>',
    saved: 'port',
    parse: port,
    default: '8000',
    description: 'port to listen on',
  }),
  baseUrl: setting({
    variable: 'SHOAL_BASE_URL',
    flag: '--base-url <address>',
    parse: word,
    description: 'address that clients use',
  }),
  isOpen: setting({
    variable: 'SHOAL_REGISTRATION',
    parse: choice({ open: true, closed: false }),
    default: 'open',
    description: 'who may register',
  }),
  origins: setting({
    variable: 'SHOAL_ORIGINS',
    flag: '--origin <origin>',
    parse: list(word),
    default: '',
    description: 'pages that may call',
  }),
  quotaBytes: setting({
    variable: 'SHOAL_QUOTA',
    parse: size({ min: 1, example: '500GB' }),
    description: 'bytes that an account may publish',
  }),
  slots: setting({
    flag: '--slots <number>',
    parse: wholeNumber({ min: 1 }),
    default: '4',
    description: 'conversations at a time',
  }),
}

type Sources = Omit<Parameters<typeof readSettings>[1], 'env'> & {
  env?: Record<string, string | undefined>
}

const read = ({ env = {}, ...others }: Sources) =>
  readSettings(table, { env, ...others }, (message) => {
    throw new RangeError(message)
  })

test('an unset setting has its default or is undefined', () => {
  expect(read({})).toEqual({
    port: 8000,
    baseUrl: undefined,
    isOpen: true,
    origins: [],
    quotaBytes: undefined,
    slots: 4,
  })
})

test('flags override variables, variables override saved settings, and those override defaults', () => {
  const saved = { port: '1' }
  const env = { SHOAL_PORT: '2' }
  const flags = { port: '3' }
  expect([{ saved }, { saved, env }, { saved, env, flags }].map((one) => read(one).port)).toEqual([
    1, 2, 3,
  ])
  expect(read({ flags: { baseUrl: 'here' } }).baseUrl).toBe('here')
})

test.each(['', ' ', '\n'])('a variable that holds %j counts as not set', (blank) => {
  const variables = Object.values(table).flatMap(({ variable = [] }) => variable)
  const env = Object.fromEntries(variables.map((name) => [name, blank]))
  expect(read({ env })).toEqual(read({}))
  expect(read({ env, saved: { port: '1' } }).port).toBe(1)
})

test('the values of a repeatable flag are added to those of the variable', () => {
  const env = { SHOAL_ORIGINS: 'c, d,' }
  expect(read({ env, flags: { origin: ['a', 'b'] } }).origins).toEqual(['a', 'b', 'c', 'd'])
})

test.each([
  [
    { SHOAL_PORT: '65536' },
    'SHOAL_PORT (or --port) must be a whole number from 0 to 65535, not "65536"',
  ],
  [
    { SHOAL_PORT: '1e3' },
    'SHOAL_PORT (or --port) must be a whole number from 0 to 65535, not "1e3"',
  ],
  [{ SHOAL_REGISTRATION: 'no' }, 'SHOAL_REGISTRATION must be one of open, closed, not "no"'],
  [{ SHOAL_REGISTRATION: 'constructor' }, 'must be one of open, closed, not "constructor"'],
  [{ SHOAL_QUOTA: '0' }, 'SHOAL_QUOTA must be at least 1 B, not "0"'],
])("%o is rejected with an error that contains the setting's name", (env, message) => {
  expect(() => read({ env })).toThrow(RangeError)
  expect(() => read({ env })).toThrow(message)
})

test('the error for a setting without a variable begins with its flag', () => {
  const flags = { slots: '0' }
  expect(() => read({ flags })).toThrow(/^--slots must be a whole number of at least 1, not "0"$/)
})

test('a secret can be in a file, whose path is in the variable with the suffix _FILE', () => {
  const files: Record<string, string> = { key: ' 5\r\n', empty: '\n', bad: '70000' }
  const secrets = {
    key: setting({
      variable: 'SHOAL_KEY',
      description: 'key',
      parse: port,
      readFile(path) {
        const content = files[path]
        if (content === undefined) throw new Error('ENOENT: no such file')
        return content
      },
    }),
  }
  const readSecret = (env: Record<string, string>) =>
    readSettings(secrets, { env }, (message) => {
      throw new RangeError(message)
    }).key
  expect(readSecret({ SHOAL_KEY_FILE: ' key ' })).toBe(5)
  expect(readSecret({ SHOAL_KEY_FILE: ' ', SHOAL_KEY: '6' })).toBe(6)
  expect(variablesOf(secrets.key)).toEqual(['SHOAL_KEY', 'SHOAL_KEY_FILE'])
  const refusals = {
    none: 'SHOAL_KEY_FILE must be a readable file: ENOENT: no such file',
    empty: 'SHOAL_KEY_FILE must be a file with the value, but empty is empty',
    bad: 'SHOAL_KEY_FILE must be a whole number from 0 to 65535, not "70000"',
  }
  for (const [path, message] of Object.entries(refusals)) {
    expect(() => readSecret({ SHOAL_KEY_FILE: path })).toThrow(new RangeError(message))
  }
  expect(() => readSecret({ SHOAL_KEY_FILE: 'key', SHOAL_KEY: '6' })).toThrow(
    'SHOAL_KEY and SHOAL_KEY_FILE are both set: unset one of them',
  )
  expect(read({ env: { SHOAL_PORT_FILE: 'key' } }).port).toBe(8000)
})
