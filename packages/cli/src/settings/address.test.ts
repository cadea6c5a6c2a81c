import { findRegistryLabel, formatModelArgument, parseReference } from '@shoal/core/references'
import { loopbackHosts } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { daemonAddress, registryAddress } from './address.ts'

test.each([
  ['localhost:8000', 'http://localhost:8000'],
  ['http://localhost:8000/', 'http://localhost:8000'],
  ['gpubox', 'http://gpubox'],
  ['192.168.1.5:8000', 'http://192.168.1.5:8000'],
  ['[::1]:8000', 'http://[::1]:8000'],
  ['nas.lan:8000', 'http://nas.lan:8000'],
  ['models.example.org', 'https://models.example.org'],
  ['HTTPS://Models.Example.org/shoal/', 'https://models.example.org/shoal'],
])('registry address %s means %s', (typed, address) => {
  expect(registryAddress(typed)).toBe(address)
})

test('a known host keeps its scheme', () => {
  const known = ['http://models.example.org', 'https://gpubox']
  expect(registryAddress('models.example.org', known)).toBe('http://models.example.org')
  expect(registryAddress('gpubox', known)).toBe('https://gpubox')
})

test.each(['', 'http://', 'ftp://host', 'http://me:secret@host', 'two words'])(
  '“%s” is refused',
  (typed) => {
    expect(() => registryAddress(typed)).toThrow('is not a valid registry address')
  },
)

test.each([
  ['localhost:11434', 'http://localhost:11434'],
  ['http://localhost:11434/v1/', 'http://localhost:11434'],
  ['https://gpu.example.org/shoal/v1', 'https://gpu.example.org/shoal'],
])('daemon address %s means %s', (typed, address) => {
  expect(daemonAddress(typed)).toBe(address)
  expect(() => daemonAddress('two words')).toThrow('is not a valid daemon address')
})

test('addresses of this machine default to http', () => {
  const inUrl = (host: string) => (/^[^[].*:/.test(host) ? `[${host}]` : host)
  for (const host of loopbackHosts) expect(registryAddress(inUrl(host)), host).toMatch(/^http:/)
})

test.each([
  'http://localhost:8123',
  'https://models.example.org',
  'http://models.example.org',
  'https://gpubox',
  'http://[::1]:8123',
  'https://example.org/shoal',
])('a command copied from a page of %s uses that registry', (registry) => {
  const argument = formatModelArgument(findRegistryLabel(registry), 'tide:Q8_0')
  const { registry: typed = '' } = parseReference(argument.replaceAll('"', '')) ?? {}
  expect(registryAddress(typed)).toBe(registry)
})
