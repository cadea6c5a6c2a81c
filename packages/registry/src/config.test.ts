import { expect, test } from 'vitest'
import { readRegistryConfig } from './config.ts'

test('deleted files are kept for at least an hour, unless they are removed at once', () => {
  const daysOf = (text: string) => readRegistryConfig({ SHOAL_TRASH_DAYS: text }).trashDays
  expect(['0', '0s', '1h', '6d'].map(daysOf)).toEqual([0, 0, 1 / 24, 6])
  for (const text of ['6m', '59min', '0.0000001', '.04']) {
    expect(() => daysOf(text)).toThrow(`at least an hour (1h), not "${text}"`)
  }
})
