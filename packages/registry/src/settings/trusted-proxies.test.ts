import { expect, test } from 'vitest'
import {
  findForwardedAddress,
  parseNetwork,
  type TrustedProxies,
  toTrustProxy,
} from './trusted-proxies.ts'

const forwarded = 'forged, 203.0.113.9, 10.0.0.2'

function find(proxies: TrustedProxies, connected: string, forwardedFor: string) {
  const trust = toTrustProxy(proxies)
  return trust && findForwardedAddress(trust, connected, forwardedFor)
}

test('a number trusts that many proxies at the end of the chain, and no address before them', () => {
  const found = [1, 2, 3, 9].map((hops) => find(hops, '10.0.0.1', forwarded))
  expect(found).toEqual(['10.0.0.2', '203.0.113.9', 'forged', 'forged'])
})

test('proxies in a trusted network are trusted at any position in the chain', () => {
  const networks = ['10.0.0.0/8', 'fd00::/8', '192.0.2.1']
  expect(find(networks, '10.0.0.1', forwarded)).toBe('203.0.113.9')
  expect(find(networks, 'fd12::1', '203.0.113.9')).toBe('203.0.113.9')
  expect(find(networks, '198.51.100.7', forwarded)).toBe('198.51.100.7')
  expect(find(networks, '192.0.2.1', '10.1.1.1')).toBe('10.1.1.1')
})

test.each(['', '10.0.0.0/33', '10.0.0.0/', 'fd00::/129', 'proxy', '10.0.0.0/x'])(
  '"%s" is not a network',
  (text) => {
    expect(parseNetwork(text)).toBeUndefined()
  },
)
