import { loopbackHosts, otherHosts } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { createSite } from './site.ts'

const inUrl = (host: string) => (/^[^[].*:/.test(host) ? `[${host}]` : host)

test('requests for any loopback hostname or the base URL are accepted; others are not', () => {
  const site = createSite({ baseUrl: 'https://models.example.net', allowedHosts: [] })
  for (const host of loopbackHosts) expect(site.isOurHost(`${inUrl(host)}:8000`), host).toBe(true)
  for (const host of otherHosts) expect(site.isOurHost(`${inUrl(host)}:8000`), host).toBe(false)
  expect(site.isOurHost('models.example.net')).toBe(true)
})

test('an IPv6 address is accepted without brackets, as libtorrent sends it', () => {
  const site = createSite({ baseUrl: 'http://[fd99::1]:8000', allowedHosts: ['2001:db8::7'] })
  for (const host of [
    '[fd99::1]:8000',
    'fd99::1:8000',
    'fd99::1',
    'FD99:0::1',
    '::1:8000',
    '2001:db8::7',
  ]) {
    expect(site.isOurHost(host), host).toBe(true)
  }
  for (const host of ['fd99::2:8000', 'fd99::1:8000:9', '::', ':::', 'fd99::1:x']) {
    expect(site.isOurHost(host), host).toBe(false)
  }
})
