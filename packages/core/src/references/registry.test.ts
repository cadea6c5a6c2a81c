import { expect, test } from 'vitest'
import { parseReference } from './reference.ts'
import { formatReference, registryOption } from './registry.ts'

test.each([
  ['http://localhost:8000', 'tide:Q8_0', ''],
  ['http://localhost:8123', 'localhost:8123/tide:Q8_0', ' --registry localhost:8123'],
  ['https://models.example.org', 'models.example.org/tide:Q8_0', ' --registry models.example.org'],
  ['https://example.org/shoal', 'example.org/shoal/tide:Q8_0', ' --registry example.org/shoal'],
  [
    'http://models.example.org',
    'http://models.example.org/tide:Q8_0',
    ' --registry http://models.example.org',
  ],
  ['https://gpubox', 'https://gpubox/tide:Q8_0', ' --registry https://gpubox'],
  ['http://[::1]:8123', '[::1]:8123/tide:Q8_0', ' --registry "[::1]:8123"'],
])('commands for the registry %s name it', (registry, reference, option) => {
  expect(formatReference(registry, 'tide', 'Q8_0')).toBe(reference)
  expect(parseReference(reference)).toMatchObject({ name: 'tide', quantization: 'Q8_0' })
  expect(registryOption(registry)).toBe(option)
})

test('a reference need not name a file', () => {
  expect(formatReference('https://models.example.org', 'tide')).toBe('models.example.org/tide')
})
