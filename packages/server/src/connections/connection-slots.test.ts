import { expect, test } from 'vitest'
import { connectionSlots } from './connection-slots.ts'

test('an IPv6 /64 network counts as one address, and a mapped IPv4 address as the IPv4 address', () => {
  const slots = connectionSlots({ maxConnections: 10, maxPerNetwork: 2 })
  expect(slots.take('2001:db8:1:2::1')).toBeDefined()
  const giveBack = slots.take('2001:db8:1:2:ffff::9')
  expect(slots.take('2001:db8:1:2::3')).toBeUndefined()
  expect(slots.take('2001:db8:1:3::3')).toBeDefined()
  giveBack?.()
  expect(slots.take('2001:db8:1:2::3')).toBeDefined()
  expect(slots.take('192.0.2.7')).toBeDefined()
  expect(slots.take('::ffff:192.0.2.7')).toBeDefined()
  expect(slots.take('192.0.2.7')).toBeUndefined()
  expect(slots.take('192.0.2.8')).toBeDefined()
})
