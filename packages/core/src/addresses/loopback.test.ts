import { expect, test } from 'vitest'
import { loopbackHosts, otherHosts } from '../testing/index.ts'
import { isLoopback, isLoopbackAddress } from './loopback.ts'

test.each(loopbackHosts)('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true)
})

test.each(['', '[]', ...otherHosts])('“%s” may be another machine', (host) => {
  expect(isLoopback(host)).toBe(false)
})

test('a hostname is not an address, regardless of what it resolves to', () => {
  expect(['127.0.0.1', '::1', '::ffff:127.0.0.1'].map(isLoopbackAddress)).toEqual([
    true,
    true,
    true,
  ])
  expect(['localhost', 'a.localhost', '10.0.0.1', undefined].map(isLoopbackAddress)).toEqual([
    false,
    false,
    false,
    false,
  ])
})
