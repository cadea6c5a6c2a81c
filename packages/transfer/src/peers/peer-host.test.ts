import { networkInterfaces } from 'node:os'
import { loopbackHosts, otherHosts } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { peerHostFor } from './peer-host.ts'

const inUrl = (host: string) => `http://${/^[^[].*:/.test(host) ? `[${host}]` : host}:8000`

test('peers are limited to this machine only if the registry is on this machine', () => {
  for (const host of loopbackHosts) {
    const { hostname } = new URL(inUrl(host))
    expect(peerHostFor(inUrl(host)), host).toBe(hostname === '[::1]' ? '::1' : '127.0.0.1')
  }
  const hasIpv6 = JSON.stringify(networkInterfaces()).includes('"IPv6"')
  for (const host of otherHosts) {
    expect(peerHostFor(inUrl(host)), host).toBe(hasIpv6 ? '::' : '0.0.0.0')
  }
})
