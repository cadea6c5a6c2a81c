import { defaultRegistry } from '@shoal/core/references'
import { expect, test } from 'vitest'
import { type Config, readSaved } from './config.ts'
import { readPlaces } from './places.ts'
import { readCliSetting } from './read-cli-setting.ts'
import { cliSettings } from './settings.ts'

test.each(['', ' ', '\n'])('a variable with the value %j counts as unset', (blank) => {
  const env = Object.fromEntries(
    Object.values(cliSettings).map(({ variable = '' }) => [variable, blank]),
  )
  expect(readPlaces(env)).toEqual(readPlaces({}))
  expect(readCliSetting(cliSettings.registry, { env })).toBe(defaultRegistry)
  expect(readCliSetting(cliSettings.token, { env })).toBeUndefined()
  expect(readCliSetting(cliSettings.inference, { env })).toBeUndefined()
})

test('a flag overrides a variable, and a variable overrides the saved registry', () => {
  const saved = { registry: 'http://saved' }
  const env = { SHOAL_REGISTRY: 'http://variable' }
  const flags = { registry: 'http://flag' }
  const sources = [{ saved }, { saved, env }, { saved, env, flags }]
  expect(sources.map((one) => readCliSetting(cliSettings.registry, { env: {}, ...one }))).toEqual([
    'http://saved',
    'http://variable',
    'http://flag',
  ])
})

test('an invalid value is a usage error whose message contains the name of the setting', () => {
  const sources = { env: { SHOAL_TOKEN: 'a\u00a0b' } }
  expect(() => readCliSetting(cliSettings.token, sources)).toThrow(
    'SHOAL_TOKEN contains characters that are not allowed in a token.',
  )
  const address = { env: { SHOAL_REGISTRY: 'ftp://a' } }
  expect(() => readCliSetting(cliSettings.registry, address)).toThrow(
    'SHOAL_REGISTRY (or --registry): “ftp://a” is not a valid registry address.',
  )
})

test('saved settings are validated when they are read', () => {
  const saved = (values: Config['values']) => ({ path: 'config.json', values })
  expect(readSaved('peers', saved({ peers: 'OFF' }))).toBe('off')
  expect(readSaved('limit-rate', saved({ 'limit-rate': '10MB' }))).toBe(10e6)
  expect(readSaved('ratio', saved({}))).toBeUndefined()
  expect(() => readSaved('connections', saved({ connections: '0' }))).toThrow('not a whole number')
})
