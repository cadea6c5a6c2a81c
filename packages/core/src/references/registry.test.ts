import { expect, test } from 'vitest'
import { formatModelArgument, registryOption } from './commands.ts'
import { parseReference } from './reference.ts'
import { findRegistryLabel } from './registry.ts'

test.each([
  ['http://localhost:8123', 'localhost:8123/tide:Q8_0', ' --registry localhost:8123'],
  ['https://models.example.org', 'models.example.org/tide:Q8_0', ' --registry models.example.org'],
  ['https://example.org/shoal', 'example.org/shoal/tide:Q8_0', ' --registry example.org/shoal'],
  [
    'http://models.example.org',
    'http://models.example.org/tide:Q8_0',
    ' --registry http://models.example.org',
  ],
  ['https://gpubox', 'https://gpubox/tide:Q8_0', ' --registry https://gpubox'],
])('commands for the registry %s name it', (address, argument, option) => {
  const label = findRegistryLabel(address)
  expect(formatModelArgument(label, 'tide:Q8_0')).toBe(argument)
  expect(parseReference(argument)).toMatchObject({ name: 'tide', quantization: 'Q8_0' })
  expect(registryOption(label)).toBe(option)
})

test('characters that shells interpret are quoted', () => {
  const label = findRegistryLabel('http://[::1]:8123')
  expect(formatModelArgument(label, 'tide:Q8_0')).toBe('"[::1]:8123/tide:Q8_0"')
  expect(registryOption(label)).toBe(' --registry "[::1]:8123"')
})

test("commands for the CLI's default registry do not name it", () => {
  const label = findRegistryLabel('http://localhost:8000')
  expect(formatModelArgument(label, 'tide:Q8_0')).toBe('tide:Q8_0')
  expect(registryOption(label)).toBe('')
})
